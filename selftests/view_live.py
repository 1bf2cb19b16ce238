# SPDX-License-Identifier: GPL-2.0
"""Pages of a lab, as TAP (view.sh starts this with the lab `ring` up)."""
import http.client
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

from pytap import finish, point, same

tmp = Path(sys.argv[1])
LIMIT = 240


def pwctl(*words):
    return subprocess.run(['pwctl', *words], check=False, capture_output=True, text=True, timeout=LIMIT)


def pwmons():
    links = subprocess.run(['ip', '-n', 'ring', '-o', 'link'], check=True, capture_output=True, text=True).stdout
    return re.findall(r'pwmon-\d+', links)


def fields(row):
    """Kind, SAN, unit and, of a ring packet, the sum so far (its least significant bit is sent first)."""
    b = bytes.fromhex(row[2])
    value = None
    if b[1] == 2:
        value = int(''.join(format(x, '08b') for x in b[31:39])[::-1], 2)
    return b[1], int.from_bytes(b[4:8], 'big'), int.from_bytes(b[9:12], 'big'), value


class Stream:
    """Events of a page, read one by one."""

    def __init__(self, host, path, **headers):
        self.c = http.client.HTTPConnection(host, timeout=LIMIT)
        self.c.request('GET', path + 'events', headers=headers)
        self.answer = self.c.getresponse()
        self.status = self.answer.status
        self.id = None

    def event(self):
        kind, data = 'message', None
        while True:
            line = self.answer.readline().decode().rstrip('\n')
            if line.startswith('data:'):
                data = line[5:].strip()
            elif line.startswith('event:'):
                kind = line[6:].strip()
            elif line.startswith('id:'):
                self.id = line[3:].strip()
            elif not line and data is not None:
                return kind, data

    def rows(self, n):
        got = []
        while len(got) < n:
            kind, data = self.event()
            if kind != 'message':
                break
            got += json.loads(data)
        return got

    def close(self):
        # the answer keeps the socket: with both closed the server sees the end
        self.answer.close()
        self.c.close()


def get(host, path, method='GET'):
    c = http.client.HTTPConnection(host, timeout=LIMIT)
    c.request(method, path)
    r = c.getresponse()
    body = r.read()
    c.close()
    return r.status, body, dict(r.getheaders())


def command():
    pwctl('lab', 'exec', 'a', 'pwctl', 'aton', 'add')


def ring(rows):
    return [(f[2], f[3]) for f in map(fields, rows) if f[0] == 2]


SUM = [(0, 3), (1, 7), (2, 8), (3, 8)]     # in the order of their ports; the half-router adds nothing

# a page that is written
page = tmp / 'page.html'
capture = subprocess.Popen(['pwctl', 'view', 'ring', 'count', '4', '-o', str(page)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
same('the capture says when it begins', capture.stderr.readline(), 'capturing lab ring\n')
command()
same('it ends with its count', (capture.wait(LIMIT), capture.stdout.read()), (0, '%s\n' % page))
data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S).group(1))
same('four hops of a sum', ring(data['frames']), SUM)
same('its lab', (data['lab']['name'], [(s['name'], s['san'], s['port']) for s in data['lab']['stations']],
                 [[h['port'] for h in r['halves']] for r in data['lab']['routers']]),
     ('ring', [('a', 0, 0), ('b', 0, 4), ('c', 0, 2), ('d', 1, 0)], [[15, 15]]))
same('nothing was lost, the device has gone', (data['lost'], pwmons()), (0, []))

# a page that lives
server = subprocess.Popen(['pwctl', 'view', '--live', 'ring'], stderr=subprocess.PIPE, text=True)
line = server.stderr.readline()
m = re.fullmatch(r'listening on http://(127\.0\.0\.1:\d+)(/[0-9a-f]{32}/)\n', line)
point(m, 'an address with a token on loopback', line)
host, path = m.groups()
status, body, headers = get(host, path)
same('the page', (status, headers['Content-Type'], headers['Referrer-Policy']), (200, 'text/html; charset=utf-8', 'no-referrer'))
data = json.loads(re.search(r'id="data">(.*?)</script>', body.decode(), re.S).group(1))
same('it is live and empty', (data['live'], data['frames'], data['lab']['name']), (True, [], 'ring'))
wrong = path[:-2] + ('0' if path[-2] != '0' else '1') + '/'
same('without the token there is nothing', [get(host, p)[0] for p in ('/', '/events', wrong, wrong + 'events', path[:-1], path + 'x')],
     [404] * 6)
same('only reading', [get(host, path, w)[0] for w in ('POST', 'PUT', 'DELETE', 'HEAD')], [405, 405, 405, 200])
first = Stream(host, path)
same('a stream', (first.status, first.answer.getheader('Content-Type')), (200, 'text/event-stream'))
command()
same('hops arrive as they happen', ring(first.rows(4)), SUM)
command()
same('and those of the next packet', ring(first.rows(4)), SUM)
late = Stream(host, path)
same('a client that comes later gets all', ring(late.rows(8)), SUM + SUM)
late.close()
again = Stream(host, path, **{'Last-Event-ID': first.id})
command()
same('one that comes back gets what it has not', ring(again.rows(4)), SUM)
ping = pwctl('lab', 'exec', 'a', 'pwctl', 'ping', '00:01:01', 'count', '1', 'timeout', '100000')
rows = [fields(r) for r in first.rows(4 + 8)]
same('an echo in both SANs', ({f[1] for f in rows if f[0] == 1}, ping.returncode), ({0, 1}, 0))

# clients are bounded
again.close()
streams = [Stream(host, path)]
while streams[-1].status == 200 and len(streams) < 20:
    streams.append(Stream(host, path))
same('streams are bounded', (streams[-1].status, 4 <= len(streams) <= 8), (503, True))
same('pages are still served', get(host, path)[0], 200)
for s in streams:
    s.close()
freed = False
for _ in range(600):
    s = Stream(host, path)
    freed = s.status == 200
    s.close()
    if freed:
        break
point(freed, 'places of streams that were closed are free again')
for words, says in ((('--live', 'ring', '--listen', '0.0.0.0:0'), 'loopback'), (('--live', 'nowhere'), 'no lab nowhere'),
                    (('--live', 'ring', '-o', 'x'), 'without -o'), (('ring', '--listen', '1'), 'needs --live'), (('nowhere',), 'no lab')):
    done = pwctl('view', *words)
    point(done.returncode in (1, 2) and says in done.stderr, 'refused: ' + ' '.join(words), done.returncode, done.stderr)

# the end, by a signal and with the lab
second = subprocess.Popen(['pwctl', 'view', '--live', 'ring'], stderr=subprocess.PIPE, text=True)
second.stderr.readline()
same('a device for each', len(pwmons()), 2)
second.send_signal(signal.SIGTERM)
same('SIGTERM ends the server and removes its device', (second.wait(LIMIT), len(pwmons())), (0, 1))
pwctl('lab', 'down', 'ring')
kind = 'message'
while kind == 'message':
    kind = first.event()[0]
same('the page is told that the lab has gone', kind, 'end')
same('and its namespace with it', Path('/run/netns/ring').exists(), False)
server.send_signal(signal.SIGINT)
same('the server outlives the lab', (server.wait(LIMIT), server.stderr.read()), (0, ''))
finish()
