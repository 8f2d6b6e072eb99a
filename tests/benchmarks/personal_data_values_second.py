"""Sixty more spellings, written after the rules were mended: 167 of 180 places were found at the first run.

What was missed (a telephone number after "ring me back on", an account after "refund to account", a passport number
with two digits, an address after "reach", a card before another number) has been mended since. Their author had
written the rules too, so that the figure is kinder than a stranger's spellings would be.
"""

from __future__ import annotations

from contracts.personal_data import PersonalDataKind as Kind

SECOND_HELD_BACK: dict[Kind, tuple[str, ...]] = {
    Kind.MAIL: (
        "please cc |p.exemple+support@mail.example.fr| on this",
        "login failed for |KSAMPLE@corp.example.com|:",
        "https://app.example.org/reset?mail=|robin.sample%40example.org|&t=1",
        "bounce from <|no.reply_77@news.example.net|>;",
        "{'user': '|lee@example.io|'}",
        "|anna.muster[at]example.de|",
        "reply to |sam (at) example.org|, thanks",
        "|maria@example.com.br|/",
    ),
    Kind.PHONE: (
        "My cell is |202-555-0176|",
        "you can get me on |+44 (0)7700 900 461|",
        "Tel: |+49 (89) 123 456-78|",
        "Phone number: |(020) 7946 0018|",
        "Handy |0151 23456789|",
        "Tél. |01 99 00 56 78|",
        "tel |+91 98765 43210|",
        "please ring me back on |01632 960 777|",
        "call: |1-202-555-0119|",
        "Mob: |0491 570 006|",
        "Direct: |+1 202.555.0123 x45|",
    ),
    Kind.BANK_ACCOUNT: (
        "transfer to |NL02 ABNA 0123 4567 89| today",
        "iban=|LU28 0019 4006 4475 0000|",
        "my IBAN |PT50 0002 0123 1234 5678 9015 4|",
        "A/C No. |0012 3456 7890|",
        "account number: |000123456789|, thanks",
        "Sort code |40-47-84|",
        "SWIFT/BIC: |COBADEFFXXX|",
        "refund to account |70872490| please",
        "|GB33BUKB20201555555555|;",
    ),
    Kind.CARD: (
        "charged my visa |4539 1488 0343 6467| twice",
        "card no: |5425233430109903|",
        "CC# |4012-8888-8888-1881|",
        "|6011000990139424|",
        "Amex |3714 496353 98431|",
        'card_number": "|5105 1051 0510 5100|"',
    ),
    Kind.NATIONAL_ID: (
        "my SSN: |536-22-8734|",
        "NI no |CE 12 34 56 D|",
        "DNI |00000000T|",
        "PESEL: |02070803628|",
        "personal number |850709-9805|",
        "BSN = |123456782|",
        "Passport number: |X4RTBPFW4|",
        "CPF: |529.982.247-25|",
    ),
    Kind.NETWORK_ADDRESS: (
        "can't reach |10.31.4.77|",
        "from client |172.20.3.14| port 51544",
        "db on |192.168.44.10|:5432 is down",
        "the printer's ip is |10.1.30.9|",
        "|fd12:3456:789a:1::1|",
        "NIC |3c:52:82:aa:01:fe|",
        "logs on host |app-prod-03|",
        "mount \\\\|nas02|\\backup",
        "connect to |kafka1|:9092 refused",
    ),
    Kind.CREDENTIAL: (
        "user bob, pass: |Qwe!2345|",
        "pwd=|9xK#mm2p|;",
        "my password: |Maple-Tree-77|",
        "ftp://|kim:pa55wd|@ftp.example.org/in",
        "SECRET_KEY='|f3b1c9d07aa94e21|'",
        "X-Auth-Token: |7c9e6679f7425d40|",
        "the pin is |4829|",
        "API key: |k3y-98ab76cd54ef|",
        "temporary password |Welcome#2026| was sent",
    ),
}
