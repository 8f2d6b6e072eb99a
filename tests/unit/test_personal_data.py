"""What the finder takes for personal data, and what it keeps (R6)."""

from __future__ import annotations

import gc
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.personal_data.finder import RuleFinder
from contracts.personal_data import Certainty, PersonalDataKind

FINDER = RuleFinder()
Kind = PersonalDataKind

KEPT = [
    "upgrade from 10.14.2.0 to 10.17.1.0",
    "The server was upgraded from 10.14.2.0 to 10.17.1.0 on Friday.",
    "Upgrade the storage client to 3.22.3.1",
    "version 10.0.0.1 of the library, released 2026-02-03",
    "Downgrading to 2.53.8.1 solved it; 2.53.9.1 crashes.",
    "Mozilla/5.0 (X11; Linux x86_64; rv:91.0) Gecko/20100101 Firefox/91.0 Browser/10.0.0.1",
    "hadoop-common-3.4.0.1.jar, jackson 2.12.7.1-SNAPSHOT",
    "Trace id 7d3e9a10-52c4-4b7e-9046-555010012345",
    "ticket 2026020301, epoch 1770109200, part GB12ABCD00001234, position 52.5702, 13.4050",
    "ERROR 0x80070005 at 0x00007f7552553010, code 404, ORA-00942, CVE-2020-10673",
    "commit 2a67e2b1a0e3a5f91056f5b977ef9c4c07ba6718 and digest d41d8cd98f00b204e9800998ecf8427e",
    "2020-12-29 16:22:26,390 WARN  [Time-limited test] webapp.Configuration (Web.java:get(794))",
    "[2021-10-27T17:52:59.814Z] at Wed Oct 27 17:52:56 UTC 2021",
    "    at org.apache.hadoop.ipc.ProtobufRpcEngine$Server.call(ProtobufRpcEngine.java:617)",
    "application_1409421698529_0012, blk_-1234567890123456789, job 20240109203033",
    "@Override public void run() { @Test(timeout=30000)",
    " * @param path of the file\n * @return nothing",
    "npm@7.13.0 and @scope/package, icon@2x.png, git@host.example:team/project",
    "std::vector, Dead::Beef, 12:30:45, ::1, 127.0.0.1, 0.0.0.0:8080, 255.255.255.0",
    "password: required. The token is expired; token=null, secret=${SECRET}, password=<password>",
    "fs.s3a.secret.key, hadoop.security.token.service.use_ip=true, String password = getPassword();",
    "SHA256:aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99",
    "free = 989855744 (944.0MB), 9223372036854775807, 4611686018427387904, 1654700598727",
    "Thanks in advance for the help",
    "Hi all,\nHello team,\nDear support,\nHello world", "Kind regards\nThe Support Team",
    "To: SeaMonkey Users", "From github: issue 12", "User Agent: Mozilla/5.0",
    "invoice 4471-B, order 12345678, 8 digits 20260302A", "1234-5678-9012-3456 and 4111 1111 1111 1112",
    "DE89 3704 0044 0532 0130 01 has wrong check digits", "call 3 functions in 200 ms", "phone 7 of 12",
    "Tried 3 times (of a maximum of 3)", "https://example.org/a/b?c=12345678&d=2026", "1 Street left, 2 Drive letters",
    # Numbers that begin as a private network's, and stand for a version.
    "SeaMonkey 10.53.8.1 on Windows", "it broke after 10.14.2.1", "fixed in 10.8.0.23", "jackson-databind 10.9.10.3",
    "10.14.2.0 is the last good one", "version 10.8.0.2 is old. Nobody runs 10.8.0.3 here",
    "Oracle 11.2.0.4 and driver 203.0.113.200", "Office 16.0.4266.1001 crashed",
    # Names with a number behind a colon, and words with a number beside "server".
    "Dockerfile:100, Impl.java:304, validateFileContents:139, Assert.fail:88, localhost:36143, org.lz4:lz4:1200",
    "DB2 server, SP2 server, UAT1 server, IIS7 host, EC2 host, M1 machine, password (see chapter 12), passport RENEWAL",
    "max-age:3600, content-length:1024, font-size:12, part2:1500, sha256:20480, com.example.app:8080",
    "SQL Server SP2, Exchange server 2016, RHEL7 server, HTTP2 server, CVE-2020 host, HADOOP-16661 server",
    "a server called from the client, the host named below, ping me, ssh key",
    "www.example.org:443, C:\\\\Users\\\\x, this.local, foo.internal()",
    "x.svc.cluster.local, https://storage.example.org/a, s3a://bucket1/path, hdfs://ns/path, step1:2021",
    # Ids of messages, and words about accounts, numbers and passwords.
    "https://lists.example.org/%3CCAAaVJWVXhsv4tn1KOQkKYTaQ441Yb8y7s%2BR_GnESwduB1iFxOA%40mail.example.com%3E",
    "account: locked, the account 4711, account number missing, IBAN is required, conta 12, compte rendu 2026",
    "my number is 7, contact number missing, text me, mobile 5.1.2, home number of rows",
    "pin: pull, pass: true, login with SSO, credentials: none, password has been changed to make it safe",
    "<password>${PASSWORD}</password>, <token>null</token>, code is 404, mysql -u root -p, curl -u user:$PASS",
    "[person 1], [mail 2] and <email> wrote to <user>",
]  # fmt: skip

FOUND = [
    (Kind.MAIL, "", "alex.sample-person@example.org", ""),
    (Kind.MAIL, "write to ", "alex (at) example (dot) org", " please"),
    (Kind.PHONE, "Tel. ", "+44 20 7946 0958", " | Mobile"),
    (Kind.PHONE, "Mobile ", "(555) 010-0123", ""),
    (Kind.PHONE, "", "0044 20 7946 0958", ""),
    (Kind.PHONE, "phone: ", "020 7946 0958 ext. 12", ""),
    (Kind.PHONE, "", "+49\u00a030\u00a023125\u00a0000", ""),
    (Kind.BANK_ACCOUNT, "Account on the form: ", "DE89 3704 0044 0532 0130 00", " (payer)"),
    (Kind.BANK_ACCOUNT, "", "gb29nwbk60161331926819", ""),
    (Kind.CARD, "card ", "4111 1111 1111 1111", " was tried once"),
    (Kind.CARD, "", "4111\u200b1111\u200b1111\u200b1111", ""),
    (Kind.CARD, "", "3782 822463 10005", ""),
    (Kind.CARD, "", "6011000990139424", "  103 | ENV"),
    (Kind.NATIONAL_ID, "National number on the scan: ", "12345678Z", "."),
    (Kind.NATIONAL_ID, "US form shows ", "078-05-1120", ""),
    (Kind.NATIONAL_ID, "PESEL ", "44051401359", ""),
    (Kind.NATIONAL_ID, "", "RSSMRA85T10A562S", ""),
    (Kind.NETWORK_ADDRESS, "the host ", "10.14.2.7", " is down"),
    (Kind.NETWORK_ADDRESS, "http://", "10.4.5.6", ":8080/ui"),
    (Kind.NETWORK_ADDRESS, "namenode1/", "10.2.3.4", ":8020"),
    (Kind.NETWORK_ADDRESS, "", "2001:db8::8a2e:370:7334", ""),
    (Kind.NETWORK_ADDRESS, "", "00:00:5e:00:53:af", ""),
    (Kind.NETWORK_ADDRESS, "[hdfs@", "store7-node2", " ~]$ ls"),
    (Kind.NETWORK_ADDRESS, "it stands at ", "10.27.0.23", " now"),
    (Kind.NETWORK_ADDRESS, "10.44.0.0/16 holds ", "10.44.7.9", ""),
    (Kind.NETWORK_ADDRESS, "DestHost:destPort ", "namenode0", ":8020 , LocalHost"),
    (Kind.NETWORK_ADDRESS, "localPort ", "namenode1", "/10.2.3.4:0."),
    (Kind.NETWORK_ADDRESS, "hdfs://", "nn1.example.org", ":8020/x"),
    (Kind.NETWORK_ADDRESS, "the ", "ABC-HQ1", " Server Check"),
    (Kind.NETWORK_ADDRESS, "ABC-HQ1 Server and ", "ABC-HQ2", ""),
    (Kind.NETWORK_ADDRESS, "the ", "QX1", " Server Down"),
    (Kind.NETWORK_ADDRESS, "sam@", "21a025f08d49", ":~/src$ ls"),
    (Kind.NETWORK_ADDRESS, "", "node-1.node.ns.svc.cluster.local", "/x"),
    (Kind.NETWORK_ADDRESS, "can't reach ", "10.31.4.77", ""),
    (Kind.CREDENTIAL, "a made-up password (", "09u4x6d&", ")"),
    (Kind.BANK_ACCOUNT, "refund to account ", "70872490", ""),
    (Kind.PHONE, "ring me back on ", "01632 960 777", ""),
    (Kind.NATIONAL_ID, "Passport number: ", "X4RTBPFW4", ""),
    (Kind.NETWORK_ADDRESS, "a box called ", "kepler", " died"),
    (Kind.NETWORK_ADDRESS, "", "ws-0042.corp.local", ""),
    (Kind.NETWORK_ADDRESS, "copy it from \\\\", "fileserv", "\\share$"),
    (Kind.NETWORK_ADDRESS, "ssh root@", "build7", " first"),
    (Kind.MAIL, "?u=1%7c", "sample%40example.org", "%7c2"),
    (Kind.MAIL, "to=", "sample%2540example.org", "&x"),
    (Kind.PHONE, "my number: ", "020 7946 0958", " 5.1.2"),
    (Kind.PHONE, "phone (work): ", "020 7946 0958", ""),
    (Kind.BANK_ACCOUNT, "CLABE: ", "0321 8000 0118 3597 19", ""),
    (Kind.BANK_ACCOUNT, "IBAN: ", "DE21 3704 0044 0532 0130 00", ""),
    (Kind.CREDENTIAL, "<password>", "s3cr3tpw", "</password>"),
    (Kind.CREDENTIAL, "mysql -u root -p", "s3cr3tpw", " shop"),
    (Kind.CREDENTIAL, "password was changed to ", "Summer2026", "."),
    (Kind.CREDENTIAL, "login: admin/", "adm1n99", ""),
    (Kind.CREDENTIAL, "password=", "Tr0ub4dor&3", ""),
    (Kind.CREDENTIAL, "Authorization: Bearer ", "abc123def456ghi789", ""),
    (Kind.CREDENTIAL, "postgresql://", "app:s3cr3tpw", "@db.example.org/x"),
    (Kind.CREDENTIAL, "", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "\nend"),
    (Kind.NAME, "Kind regards\n", "Alex Sample-Person", "\nHead of Nothing, Example Works Ltd"),
    (Kind.NAME, "Hi ", "Anna", ",\n"),
    (Kind.NAME, "Dear Mr ", "Sampleton", ",\n"),
    (Kind.NAME, "Mit freundlichen Grüßen\n", "Jörg Muster", ""),
    (Kind.NAME, "From: ", "Robin Example", " <x@example.org>"),
    (Kind.POSTAL_ADDRESS, "", "1 Invented Street, Sampletown", ""),
    (Kind.POSTAL_ADDRESS, "wohnt ", "Musterstraße 12, 12345 Musterstadt", "."),
]  # fmt: skip
STANDING_ALONE = [value for kind, before, value, _ in FOUND if not before and kind is not Kind.POSTAL_ADDRESS]


def found(text: str) -> list[tuple[PersonalDataKind, str]]:
    return [(place.kind, text[place.start : place.end]) for place in FINDER.find(text)]


@pytest.mark.parametrize("text", KEPT)
def test_r6_what_only_looks_like_personal_data_is_kept(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(("kind", "before", "value", "after"), FOUND)
def test_r6_personal_data_is_found_whole(kind: PersonalDataKind, before: str, value: str, after: str) -> None:
    assert (kind, value) in found(f"{before}{value}{after}")


def test_r6_numbers_are_what_their_like_in_the_text_are() -> None:
    """The same numbers, or those of the same network, stand for one thing throughout a text."""
    assert found("ping 10.44.7.9\n10.44.7.8 too") == [
        (Kind.NETWORK_ADDRESS, "10.44.7.9"),
        (Kind.NETWORK_ADDRESS, "10.44.7.8"),
    ]
    assert found("version 10.44.7.9 is old\nand 10.44.7.8 is new") == []
    assert found("ping 10.44.7.9\nit broke after 10.44.7.8") == [(Kind.NETWORK_ADDRESS, "10.44.7.9")]


def test_r6_a_machine_is_found_again_where_nothing_tells_what_it_is() -> None:
    text = "hdfs://store7:8020/x failed; store7 was restarted, then store7."
    assert found(text) == [(Kind.NETWORK_ADDRESS, "store7")] * 3


def test_r6_a_phone_is_no_account_and_a_uuid_no_phone() -> None:
    assert found("+34 91 123 45 67 and 7d3e9a10-52c4-4b7e-9046-555010012345") == [(Kind.PHONE, "+34 91 123 45 67")]


def test_r6_sample_numbers_are_no_exception() -> None:
    """A list of numbers that were once printed as samples would let people's copies of them through."""
    assert [kind for kind, _ in found("SSN 219-09-9999, card 4242 4242 4242 4242")] == [Kind.NATIONAL_ID, Kind.CARD]


def test_r6_a_finding_says_what_it_rests_on() -> None:
    checked, likely = FINDER.find("alex@example.org\n\nKind regards\nAlex Sample")
    assert (checked.certainty, likely.certainty) == (Certainty.CHECKED, Certainty.LIKELY)


PLAIN = st.text(alphabet="abc xyz.,;\n", max_size=60)


@settings(deadline=None)  # a first match compiles much, and machines are shared
@given(PLAIN, st.sampled_from(STANDING_ALONE), PLAIN)
def test_r6_a_value_is_found_wherever_it_stands(before: str, value: str, after: str) -> None:
    text = f"{before}\n{value}\n{after}"
    start = len(before) + 1
    assert any(place.start <= start and start + len(value) <= place.end for place in FINDER.find(text))


PIECES = st.lists(
    st.one_of(
        st.sampled_from([f"{before}{value}{after}" for _, before, value, after in FOUND]),
        st.sampled_from(KEPT),
        st.text(max_size=12),
        st.sampled_from(["\n", " ", "\u200b", "\r\n", "[person 1]", "<email>", "Tel. ", "password=", "\x85"]),
    ),
    max_size=12,
).map("".join)


@settings(deadline=None)  # a first match compiles much, and machines are shared
@given(PIECES)
def test_r6_places_are_in_order_inside_the_text_and_apart(text: str) -> None:
    end = 0
    for place in FINDER.find(text):
        assert end <= place.start < place.end <= len(text)
        end = place.end


@settings(deadline=None)  # a first match compiles much, and machines are shared
@given(PIECES)
def test_r6_the_same_text_has_the_same_findings(text: str) -> None:
    assert FINDER.find(text) == RuleFinder().find(text)


HARD_ON_PATTERNS = [
    "\n", " ", "a", "1", "12 34 ", "a.", "a@b.", "af:", "> ", "Ab Cd ", "1 Aa ", "10.0.0.1 ", "password=", "DE89 ",
    "thanks\n", "+44 20 7946 0958 ", "Tel 1234567 ", "4111 ", "ab://", "A. ", "eyJ", "[person 1]",
    "-----BEGIN PRIVATE KEY-----", "db01:8020 ", "server db01 ", "a.b.c.local ", "AB-C1, ", "\\\\ab", "%40a",
    "<name>password</name>",     "curl -u ab:", "mysql -p", "IBAN: DE89 ", "login a/", "my number ", "ssh a@", "http://ab1-",
]  # fmt: skip


@pytest.mark.parametrize("piece", HARD_ON_PATTERNS)
def test_r22_the_time_grows_no_faster_than_the_text(piece: str) -> None:
    """A recogniser that goes back over what it has read takes ten times as long for three times the text."""

    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        # This thread alone, and not what collecting the garbage of earlier tests takes.
        gc.disable()
        try:
            began = time.thread_time()
            FINDER.find(text)
            return time.thread_time() - began
        finally:
            gc.enable()

    small, large = seconds(10_000), seconds(30_000)
    assert large < 6 * small + 0.2, f"{small:.2f} s, {large:.2f} s"
