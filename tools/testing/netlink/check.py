# SPDX-License-Identifier: GPL-2.0
"""The netlink specification against the header and the code, as TAP.

Numbers: attributes and commands stand in the header in the order of the
specification. Policies: an attribute has the type that it has there, and what is
reply only has no other. Privilege: commands with uns-admin-perm and only these are
for administrators.
"""
import re
import sys
from pathlib import Path

top = Path(sys.argv[1])
spec = (top / 'Documentation/netlink/specs/packetway.yaml').read_text().splitlines()
header = (top / 'uapi/linux/packetway_netlink.h').read_text()
code = '\n'.join(p.read_text() for p in sorted((top / 'drivers/net/packetway').glob('pw_genl*.c')))
points = []


def point(good, what):
    points.append(good)
    print('%sok %d - %s' % ('' if good else 'not ', len(points), what))


def read_spec():
    """Attribute sets as {prefix: [{name, type, doc}]} and the list of operations."""
    sets, ops, where, item = {}, [], None, None
    for line in spec:
        if re.match(r'\S', line):
            where = line.rstrip(':')
        m = re.match(r'( +)([\w-]+): *(.*)', line)
        if not m:
            continue
        depth, key, value = len(m[1]), m[2], m[3]
        if where == 'attribute-sets':
            if depth == 4 and key == 'name-prefix':
                sets[value] = []
            elif depth == 8 and key == 'name':
                item = {'name': value, 'type': '', 'doc': ''}
                sets[list(sets)[-1]].append(item)
            elif depth == 8 and key in ('type', 'doc'):
                item[key] = value
        elif where == 'operations' and depth == 6:
            if key == 'name':
                item = {'name': value, 'flags': '', 'event': False}
                ops.append(item)
            elif key == 'flags':
                item['flags'] = value
            elif key == 'event':
                item['event'] = True
    return sets, ops


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

sets, ops = read_spec()
point(len(sets) >= 9 and len(ops) >= 16, 'the specification was read (%d sets, %d commands)' % (len(sets), len(ops)))
for prefix, attrs in sets.items():
    want = [symbol(prefix, a['name']) for a in attrs]
    point(enum_of(symbol(prefix, 'unspec')) == want, '%s*: the header has these, in this order' % prefix)
point(enum_of('PACKETWAY_CMD_UNSPEC') == [symbol('packetway-cmd-', o['name']) for o in ops],
      'commands: the header has these, in this order')

policy = dict(re.findall(r'\[(PACKETWAY_A_\w+)\] = (.*?),\n(?=\t\[|\t?\})', code, re.S))
for prefix, attrs in sets.items():
    wrong = []
    for a in attrs:
        name, text = symbol(prefix, a['name']), policy.get(symbol(prefix, a['name']), '')
        reply = 'reply only' in a['doc'] or 'notifications only' in a['doc']
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
wrong = [o['name'] for o in ops if not o['event'] and
         ('uns-admin-perm' in o['flags']) != ('GENL_UNS_ADMIN_PERM' in table.get(symbol('packetway-cmd-', o['name']), ''))]
point(not wrong, 'who may do what' + (': ' + ', '.join(wrong) if wrong else ''))
point(set(table) == {symbol('packetway-cmd-', o['name']) for o in ops if not o['event']}, 'commands that the kernel carries out')
print('1..%d' % len(points))
sys.exit(not all(points))
