# SPDX-License-Identifier: GPL-2.0
"""Pages of `pwctl view`, as TAP."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import live
from pytap import finish, point, same, skip

top, build = Path(sys.argv[1]), Path(sys.argv[2])
here = top / 'tools/testing/view'
tmp = tempfile.TemporaryDirectory()
out = Path(tmp.name)
OPERANDS = [3, 1, 4, 1, 5, 9, 2, 6]


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, timeout=250, **more)


def page(file, name):
    done = run(build / 'pwctl', 'view', file, '-o', out / name)
    point(done.returncode == 0, 'view %s' % file.name, done.stdout, done.stderr)
    text = (out / name).read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1)
    return text, json.loads(data)


def pcap(path, link, frames, magic=0xa1b2c3d4, order='<'):
    with open(path, 'wb') as f:
        f.write(struct.pack(order + 'IHHiIII', magic, 2, 4, 0, 0, 65535, link))
        for i, b in enumerate(frames):
            f.write(struct.pack(order + 'IIII', 7, i, len(b), len(b)) + b)
    return path


# a sum over eight interfaces
ring = out / 'ring.pcap'
done = run(build / 'pwmodel', 'aton', 'add', *OPERANDS, '--capture', ring)
same('the model is not changed by the capture', json.loads(done.stdout),
     json.loads(run(build / 'pwmodel', 'aton', 'add', *OPERANDS).stdout))
text, data = page(ring, 'ring.html')
same('a record for each hop', (data['source'], len(data['frames']), data['skipped']), ('capture', 8, 0))


def v1(frame):
    """Variable-1 of an ADD, sent with its least significant bit first."""
    bits = ''.join(format(b, '08b') for b in bytes.fromhex(frame[2])[31:39])
    return int(bits[::-1], 2)


sums = [sum(OPERANDS[:i + 1]) for i in range(8)]
same('their partial sums', [v1(f) for f in data['frames']], sums)
# nothing is loaded from elsewhere
refs = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|\b(?:fetch|import|XMLHttpRequest|WebSocket)\s*\(', text)
same('the page loads nothing', [r for r in refs if r != ('data:,', '')], [])
same('and names no host', [u for u in re.findall(r'https?://[^"\' <>]*', text) if u != 'http://www.w3.org/2000/svg'], [])
for what in ('prefers-color-scheme: dark', 'name="viewport"', 'max-width: 800px', 'ArrowRight'):
    point(what in text, 'the page has %s' % what)

# both engines show the same
for engine in ('rtl', 'fast'):
    run(build / 'pwmodel', 'aton', 'sort', '--engine', engine, '9', '1', '5', '--capture', out / engine)
same('rtl and fast: the same capture', (out / 'rtl').read_bytes(), (out / 'fast').read_bytes())

# sixteen ports, three of them busy
load = out / 'load.csv'
rows = sorted((150 * j, s, 8 + s % 3 if s not in (8, 9, 10) else (s + 5) % 16, 200) for s in range(16) for j in range(3))
load.write_text('cycle,src,dst,bytes\n' + ''.join('%d,%d,%d,%d\n' % r for r in rows))
done = run(build / 'pwmodel', 'fabric', '--messages', load, '--pack', 'immediately', '--unpack', 'immediately',
           '--engine', 'fast', '--capture', out / 'clos.pcap', '--trace', out / 'clos.json')
point(done.returncode == 0, 'a run of the fabric', done.stderr)
again = run(build / 'pwmodel', 'fabric', '--messages', load, '--pack', 'immediately', '--unpack', 'immediately',
            '--engine', 'fast')
same('the same times as without a capture', done.stdout, again.stdout)
cells = page(out / 'clos.pcap', 'clos.html')[1]
trace = page(out / 'clos.json', 'trace.html')[1]
# a capture and a trace of another topology have its switches and links in them, also of a topology that a file has
(out / 'own.yaml').write_text(run(build / 'pwmodel', 'topology', 'torus:4x4').stdout)
for name, topology in (('torus', 'torus:4x4'), ('butterfly', 'butterfly:4x2'), ('own', out / 'own.yaml')):
    run(build / 'pwmodel', 'fabric', '--messages', load, '--pack', 'immediately', '--unpack', 'immediately', '--engine', 'fast',
        '--topology', topology, '--capture', out / (name + '.pcapng'), '--trace', out / (name + '.json'))
    one, two = page(out / (name + '.pcapng'), name + '.html')[1], page(out / (name + '.json'), name + '-trace.html')[1]
    same(name + ': a capture and a trace have the same switches', one.get('fabric'), two.get('fabric'))
    same(name + ': the topology of the file', (one.get('fabric') or {}).get('topology'), topology.name if name == 'own' else topology)
# what does not fit together is not drawn
text = (out / 'torus.json').read_text()
for what, old, new in (('a switch too many', '"switches":16', '"switches":17'), ('a link to nowhere', '"peer":[-2', '"peer":[-99'),
                       ('a link that is text', '"peer":[-2', '"peer":["x"'), ('no size', '"switch-ports":5', '"switch-ports":0')):
    (out / 'bad.json').write_text(text.replace(old, new))
    same('a trace with ' + what, (text.count(old), page(out / 'bad.json', 'bad.html')[1].get('fabric')), (1, None))
(out / 'bad.html').unlink()
# each cell is taken in by three input units and a port
same('cells at every unit of their path', len(cells['frames']) % 4, 0)
same('a trace has the hops of the capture', sum(f[1] == 'cell' for f in trace['frames']), len(cells['frames']) * 3 // 4)
table = [dict(zip(done.stdout.splitlines()[0].split(','), map(int, r.split(',')))) for r in done.stdout.splitlines()[1:]]
same('and the messages', sorted(m for m in trace['messages'] if ' to ' in m[2]),
     sorted([r['start'], max(r['acked'], r['delivered']), '%d to %d' % (r['src'], r['dst']), r['src'], r['bytes']] for r in table))
sans = page(here / 'sans.pcapng', 'sans.html')[1]
same('three SANs', (len(sans['frames']), {bytes.fromhex(f[2])[7] for f in sans['frames']}), (80, {1, 2, 3}))

# formats: byte order, unit of time, cooked captures, other protocols
bodies = [bytes.fromhex(f[2]) for f in data['frames']]
for name, args, step in (('big-endian', (147, bodies, 0xa1b2c3d4, '>'), 1000),
                         ('nanoseconds', (147, bodies, 0xa1b23c4d, '<'), 1),
                         ('cooked', (113, [bytes(14) + b'\x88\xb6' + b for b in bodies]), 1000),
                         ('cooked, second form', (276, [b'\x88\xb6' + bytes(18) + b for b in bodies]), 1000),
                         ('Ethernet', (1, [bytes(12) + b'\x88\xb6' + b for b in bodies] + [bytes(60)]), 1000)):
    got = page(pcap(out / 'form.pcap', *args), 'form.html')[1]
    same(name, [got['skipped'], *got['frames']],
         [int(name == 'Ethernet')] + [[i * step, 'm', f[2]] for i, f in enumerate(data['frames'])])
same('a name of the file that ends scripts', page(Path(shutil.copy(ring, out / 'a<!--<script>.pcap')), 'odd.html')[1]['title'],
     'a<!--<script>.pcap')
done = run(build / 'pwctl', 'view', ring)
same('without -o the page is beside it', (done.stdout, (out / 'ring.html').exists()), (str(out / 'ring.html') + '\n', True))
point(run(build / 'pwctl', 'view', ring, '-o', '-').stdout == (out / 'ring.html').read_text(), 'to standard output')

# what is refused, and that no page is left
whole = (here / 'sans.pcapng').read_bytes()
for name, content, says in (('an empty file', b'', 'line|end of file|expected'), ('text', b'hello world, hello', 'expected'),
                            ('JSON of another kind', b'{"a": [1, 2, 3, 4]}', 'neither a capture nor a trace'),
                            ('half a capture', whole[:len(whole) // 2 // 4 * 4 + 2], 'not a whole capture'),
                            ('a capture without records', ring.read_bytes()[:24], 'no record')):
    (out / 'bad').write_bytes(content)
    done = run(build / 'pwctl', 'view', out / 'bad', '-o', out / 'bad.html')
    point(done.returncode == 2 and re.search(says, done.stderr) and not (out / 'bad.html').exists(), name + ' is refused', done.stderr)
crashed = [n for n in range(0, len(whole), 397)
           if (out / 'bad').write_bytes(whole[:n]) is not None and
           run(build / 'pwctl', 'view', out / 'bad', '-o', out / 'bad.html').returncode not in (0, 2)]
same('captures of any length do no harm', crashed, [])
same('a missing file', run(build / 'pwctl', 'view', '/nowhere/x').returncode, 2)
same('no file', run(build / 'pwctl', 'view').returncode, 1)

# what the page computes
if shutil.which('node'):
    done = run('node', here / 'check.js', out)
    for line in done.stdout.splitlines():
        verdict, _, what = line.partition(' ')
        point(verdict == 'ok', 'page: ' + what)
    point(done.returncode == 0, 'page: the script ends', done.stderr)
    point(run('node', here / 'film.js', out / 'ring.html').stdout == (top / 'Documentation/pictures/ring8.svg').read_text(),
          'the picture of the README is what the page draws')
else:
    skip('what the page computes', 'no node')

# in a browser
chromium = os.environ.get('PW_CHROMIUM') or shutil.which('chromium')
if os.environ.get('PW_LONG') and chromium:
    for name, want in (('ring', '>31<'), ('clos', '0 cells held'), ('trace', '0 cells held'), ('sans', 'SAN 3')):
        words = [chromium, '--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr',
                 '--user-data-dir=%s' % (out / 'profile'), '--dump-dom', 'file://%s#last' % (out / (name + '.html'))]
        done = run(*words)
        stage = done.stdout.partition('id="stage"')[2].partition('id="said"')[0]
        point(want in stage and 'CONSOLE' not in done.stderr, 'Chromium shows %s' % name, stage[:300],
              *[line for line in done.stderr.splitlines() if 'CONSOLE' in line])
    # a page that lives: the server says what a real one would, records one by one
    got = live.show(chromium, out, data['frames'])
    point('>31<' in got['stage'] and got['rows'] == 8 and not got['console'], 'Chromium follows a stream', got)
    # 10^5 events: a step takes a part of a frame's time, however far the page is
    frames = (cells['frames'] * (100000 // len(cells['frames']) + 1))[:100000]
    (out / 'long.html').write_text(re.sub(r'(id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(
        dict(cells, frames=frames)) + m.group(2), (out / 'clos.html').read_text(), flags=re.S))
    done = run(chromium, *live.FLAGS, '--user-data-dir=%s' % (out / 'profile'), '--virtual-time-budget=60000', '--dump-dom',
               'file://%s#99000' % (out / 'long.html'))
    point('99000 / 100000' in done.stdout and 'CONSOLE' not in done.stderr, 'Chromium at event 99000 of 100000', done.stderr[-500:])
    # to the end, and back by the time line: the sum so far, and the token that was taken
    (out / 'scrub.html').write_text((out / 'ring.html').read_text().replace('</body>', """<script>
document.getElementById("last").click();
const was = document.getElementById("stage").innerHTML.includes(">31<"), line = document.getElementById("line");
line.value = 3;
line.dispatchEvent(new Event("input"));
document.title = "was the sum: " + was;
</script></body>"""))
    done = run(chromium, *live.FLAGS, '--user-data-dir=%s' % (out / 'profile'), '--dump-dom', 'file://%s' % (out / 'scrub.html'))
    stage = done.stdout.partition('id="stage"')[2].partition('id="said"')[0]
    point('was the sum: true' in done.stdout and '>31<' not in stage and all('>%d<' % x in stage for x in sums[:4])
          and '>%d<' % sums[4] not in stage and 'token at' in stage and 'CONSOLE' not in done.stderr,
          'Chromium: scrubbing back shows partial sums', stage[:2000], done.stderr[-300:])
    shots = Path(os.environ.get('PW_OUT') or build / 'results/view')
    shots.mkdir(parents=True, exist_ok=True)
    for name, at in (('ring', 6), ('clos', len(cells['frames']) // 2), ('sans', 44)):
        for size in ('1280,800', '390,844'):
            sizes = set()
            for colours in ('light', 'dark'):
                shot = shots / ('%s-%s-%s.png' % (name, size.partition(',')[0], colours))
                shot.unlink(missing_ok=True)
                run(chromium, *live.FLAGS, '--blink-settings=preferredColorScheme=%d' % (colours == 'light'), '--hide-scrollbars',
                    '--user-data-dir=%s' % (out / 'profile'), '--window-size=' + size, '--screenshot=%s' % shot,
                    'file://%s#%d' % (out / (name + '.html'), at))
                point(shot.exists() and shot.stat().st_size > 5000, 'a picture of %s, %s wide, %s' % (name, size.partition(',')[0], colours))
                sizes.add(shot.read_bytes() if shot.exists() else b'')
            same('light and dark differ', len(sizes), 2)
else:
    skip('Chromium shows the pages', 'in soaks, where there is one')
finish()
