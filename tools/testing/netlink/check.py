# SPDX-License-Identifier: GPL-2.0
"""The netlink specification against the kernel's schema, the header and the code, as TAP.

Schema: the specification is valid where the kernel's own tools read it, and each
command can be called there. Numbers: attributes and commands stand in the header in
the order of the specification. Policies: an attribute has the type that it has there,
and what is reply only has no other. Privilege: commands with admin-perm and only these
are for administrators.

Arguments: the checkout and, if there is one, an unpacked kernel source.
"""
import importlib
import re
import sys
from pathlib import Path

import jsonschema
import yaml
from pytap import finish, point, skip

top = Path(sys.argv[1])
source = Path(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None
spec_file = top / 'Documentation/netlink/specs/packetway.yaml'
spec = yaml.safe_load(spec_file.read_text())
header = (top / 'uapi/linux/packetway_netlink.h').read_text()
code = '\n'.join(p.read_text() for p in sorted((top / 'drivers/net/packetway').glob('pw_genl*.c')))


def symbol(prefix, name):
    return (prefix + name).upper().replace('-', '_')


def enum_of(first):
    """The enumeration that begins with this symbol, without unspec and max."""
    body = re.search(r'enum \{\s*%s,(.*?)\n\}' % first, header, re.S)
    if not body:
        return []
    body = re.sub(r'/\*.*?\*/', '', body[1], flags=re.S)
    return [n for n in re.findall(r'\b(PACKETWAY_\w+|__PACKETWAY_\w+)', body) if not n.startswith('__')]


FITS = {
    'u32': r'NLA_U32', 'u64': r'NLA_U64', 'flag': r'NLA_FLAG', 'string': r'NLA_NUL_STRING',
    'binary': r'NLA_POLICY_(MIN|EXACT)_LEN|NLA_BINARY', 'nest': r'NLA_POLICY_NESTED|NLA_NESTED',
}

sets = {a['name-prefix']: a['attributes'] for a in spec['attribute-sets']}
listed = spec['operations']['list']
ops = [o for o in listed if 'notify' not in o]
ntfs = [o for o in listed if 'notify' in o]
point(len(sets) >= 9 and len(ops) >= 16, 'the specification was read (%d sets, %d commands)' % (len(sets), len(ops)))

if source:
    schema = yaml.safe_load((source / 'Documentation/netlink/genetlink.yaml').read_text())
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(spec))
    point(not errors, "the kernel's schema for generic netlink")
    for e in errors:
        print('# %s: %s' % ('/'.join(map(str, e.absolute_path)), e.message))
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(source / 'tools/net/ynl'))
    family = importlib.import_module('lib').SpecFamily(str(spec_file), '')
    point(set(family.ops) == {o['name'] for o in ops if 'event' not in o},
          "the kernel's ynl can call every command")
    point(set(family.ntfs) == {o['name'] for o in listed if 'notify' in o or 'event' in o} and
          all(family.rsp_by_value[m.value] is m for m in family.ntfs.values()),
          'and decode every notification')
else:
    skip("the kernel's schema for generic netlink", 'no unpacked kernel source')

for prefix, attrs in sets.items():
    want = [symbol(prefix, a['name']) for a in attrs]
    point(enum_of(symbol(prefix, 'unspec')) == want, '%s*: the header has these, in this order' % prefix)
commands = enum_of('PACKETWAY_CMD_UNSPEC')
point(commands == [symbol('packetway-cmd-', o['name']) for o in ops],
      'commands: the header has these, in this order')
point(ntfs and all(o['name'].endswith('-ntf') and commands[o['value'] - 1:o['value']] ==
                   [symbol('packetway-cmd-', o['name'][:-4])] for o in ntfs),
      'a notification has the number of its command')
# sequence number and port id of a notification are 0
sent = set(re.findall(r'_message\([^;]*?\b0, 0, (PACKETWAY_CMD_\w+)\)', code))
point(sent == {symbol('packetway-cmd-', o['name'][:-4]) for o in ntfs}, 'notifications that the kernel sends')

policy = dict(re.findall(r'\[(PACKETWAY_A_\w+)\] = (.*?),\n(?=\t\[|\t?\})', code, re.S))
for prefix, attrs in sets.items():
    wrong = []
    for a in attrs:
        name, text = symbol(prefix, a['name']), policy.get(symbol(prefix, a['name']), '')
        reply = 'reply only' in a.get('doc', '') or 'notifications only' in a.get('doc', '')
        if not text or a['type'] == 'pad':
            continue
        if not re.search(FITS[a['type']], text) and not (reply and re.search('NLA_REJECT|REPLY_ONLY', text)):
            wrong.append('%s is %s, not %s' % (name, text, a['type']))
        if reply and not re.search('NLA_REJECT|REPLY_ONLY', text):
            wrong.append('%s is reply only' % name)
    point(not wrong, '%s*: policies have these types' % prefix)
    for w in wrong:
        print('# ' + w)
known = {symbol(p, a['name']) for p, attrs in sets.items() for a in attrs}
point(policy and set(policy) <= known, 'policies name what the specification has')

table = dict(re.findall(r'\.cmd = (PACKETWAY_CMD_\w+),(.*?)\n\t\}', code, re.S))
wrong = [o['name'] for o in ops if 'event' not in o and
         ('admin-perm' in o.get('flags', [])) != ('GENL_UNS_ADMIN_PERM' in table.get(symbol('packetway-cmd-', o['name']), ''))]
point(not wrong, 'who may do what' + (': ' + ', '.join(wrong) if wrong else ''))
point(set(table) == {symbol('packetway-cmd-', o['name']) for o in ops if 'event' not in o}, 'commands that the kernel carries out')
finish()
