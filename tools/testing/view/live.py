# SPDX-License-Identifier: GPL-2.0
"""A live page in Chromium, from a server that stands for `pwctl view --live`."""
import http.server
import json
import re
import subprocess
import threading

FLAGS = ('--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr')


def show(chromium, out, frames):
    """What a page shows after these records, sent one by one: picture, number of rows, console."""
    text = (out / 'ring.html').read_text()
    page = re.sub(r'(id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(
        {'version': 1, 'title': 'live', 'source': 'capture', 'frames': [], 'live': True}) + m.group(2), text, flags=re.S)

    class Handler(http.server.BaseHTTPRequestHandler):
        """The page, and its stream."""

        def log_message(self, *args):
            pass

        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Type', 'text/event-stream' if self.path == '/t/events' else 'text/html; charset=utf-8')
            self.end_headers()
            if self.path != '/t/events':
                self.wfile.write(page.encode())
                return
            for i, f in enumerate(frames):
                self.wfile.write(('data: %s\nid: %d\n\n' % (json.dumps([f]), i + 1)).encode())
                self.wfile.flush()
            self.wfile.write(b'event: end\ndata: \n\n')

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    done = subprocess.run([chromium, *FLAGS, '--user-data-dir=%s' % (out / 'profile'), '--virtual-time-budget=5000', '--dump-dom',
                           'http://127.0.0.1:%d/t/' % server.server_port], capture_output=True, text=True, check=False, timeout=250)
    server.shutdown()
    server.server_close()
    count = re.search(r'id="where">\d+ / (\d+)', done.stdout)
    return {'stage': done.stdout.partition('id="stage"')[2].partition('id="said"')[0], 'rows': int(count.group(1)) if count else -1,
            'console': [line for line in done.stderr.splitlines() if 'CONSOLE' in line]}
