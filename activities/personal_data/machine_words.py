"""Words that names of machines are told by: what is called so, and what only has a number at its end too."""

from __future__ import annotations

_TOPS = """
at au be biz br ca ch cloud com de dev edu es eu fr gov in info io it net nl org pl se uk us
"""
TOPS = frozenset(_TOPS.split())
"""Ends of domain names that are no ends of files or names of methods."""

_ROLES = """
api app appsrv backup be broker build cache cdh ceph ci cluster cn datanode dataserver db dbserver dc dn dns docker
edge elastic en esx esxi etcd fe file fileserver fs ftp gateway gpu gw hadoop haproxy hive hmaster host hostname hv
jenkins jm jump kafka kube laptop lb ldap mail master mgmt minion mon mongo mx mysqlserver namenode nas nfs nginx nm
nn node ns ntp pc postgres primary print printer prod proxy pxe rabbit redis regionserver replica rm router rs san
search secondary server sftp slave smtp sql srv standby storage store sw switch tm tomcat vault vm vpn web webserver
wks worker ws zk zookeeper
"""
ROLES = frozenset(_ROLES.split())
"""What machines are called for, before their number."""

_NO_MACHINES = """
aes alpha amd android arg argument arm base beta bit block boost bug build case centos chapter char col column cpp
cve day db2 debian double ec edition eof epoch err error exchange ext factor fedora fig figure file fips float ga
gen gpt group h hiveserver html http https id idx ie image img index int io ios ipv iso issue item jackson java jdk
jdom jira jre jsr junit kb kernel key l label level lib line linux list log lz mac md method mp mssql mysql note num
number oauth office ol openjdk option oracle os page para param part patch phase php point post pr py python q
quarter rc redhat release rev revision rfc rhel rk row rule run s saml sample sba section sha side sles slf slide
smb solaris sp sql sqlite ssl stage step string stripe suse table task test ticket tier time tls type u ubuntu uint
unit usb utf v val value var vec ver version vol week win windows x xhtml xml year
"""
NO_MACHINES = frozenset(_NO_MACHINES.split())
"""What else has a number at its end."""

_NO_NAMES = """
above accordingly below differently nothing something anything properly similarly next
a after again an and as at back before but by down first for from here if in into is it its later localhost not on
once only or out over so that the there these this those to twice up upon using via when while with
"""
NO_NAMES = frozenset(_NO_NAMES.split())
"""Words that follow "called" and are no name."""

_ATTRIBUTES = """
age count height id index interval length level limit line max min number port priority size time timeout version
weight width year
"""
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
"""Last parts of a setting's name, as in `max-size:2048`."""

_SHORT_PRODUCTS = """
bi cad cf cs db dx ejb emr gp gsm hp ibm iis jee jms lte ms nt os pci php pl ps ram rds rs sap sas sd sip sql sts tf
uat vs was web xp ddr ssd cpu gpu qa dev
"""
SHORT_PRODUCTS = frozenset(_SHORT_PRODUCTS.split())
"""Short words that are a product's or a stage's name before a number, as in `DB2 server`."""
