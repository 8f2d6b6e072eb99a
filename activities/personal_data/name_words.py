"""Words that stand where names do and are none."""

from __future__ import annotations

_ANNOTATIONS = """
@param @return @returns @throws @exception @see @link @code @since @author @deprecated @inheritdoc @version
@value @media @import @charset @override @test @before @after @ignore @nullable @nonnull @type @property
@echo @rem @suppress @private @public
"""
ANNOTATIONS = frozenset(_ANNOTATIONS.split())
"""Java annotations, tags and rules of style sheets that begin like a mention."""

_NO_NAMES = """
my our your his her their its version see install other all team everyone everybody there sir madam sirs
support folks guys colleague colleagues both again world customer customers user users admin administrator
helpdesk help service desk it hr dev ops devops developer developers engineer engineering manager management
group department office company ltd gmbh inc llc ag corp corporation plc sa works head director lead senior
junior officer chief sales marketing finance accounting security the this that these those a an in on at for
from with and or but not no yes please thanks thank regards best kind we i you he she they it's is are was
were be been being have has had do does did can could will would should may might must let there's when
where what why how who which if then else so as by to of monday tuesday wednesday thursday friday saturday
sunday january february march april june july august september october november december today tomorrow
yesterday here attached subject date time sent re fw fwd tel phone mobile fax email e-mail mail web www http
https street road number id ticket case issue bug error warning info debug exception failed failure version
windows linux mac java python hadoop server client file folder path class method test tests build release
update upgrade problem solution description steps actual expected result results note notes todo fixed new
old first last next previous open closed start end stop run running step happy looking forward much lot
advance patch patches apache jira git github hdfs yarn hive spark mozilla firefox seamonkey thunderbird
google microsoft oracle amazon hello hi dear hey moderator list mailing forum community project committee
reviewers reviewer maintainers friend friends sirs/madam mum dad mom anyone someone ladies gentlemen partner
partners reader readers herr frau damen herren kollegen kollegin zusammen alle tous toutes todos equipo
equipe système system systems network data database print printing letters renewal invoice policy claims
"""
NO_NAMES = frozenset(_NO_NAMES.split())
"""Greeted groups, months, and words that begin lines and products."""
