# SPDX-License-Identifier: GPL-2.0
"""Notebooks, as TAP."""
import base64
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

from pytap import finish, point, same

top = Path(sys.argv[1])
folder = top / 'Documentation/notebooks'
shots = Path(os.environ.get('PW_OUT') or os.environ['PACKETWAY_BUILD'] + '/results/notebooks')


def by_nbconvert(path):
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor
    from traitlets.config import Config

    # Over TCP Jupyter chooses free ports and the kernel binds them later: another program can take
    # one in between. Sockets in a directory of its own have no such gap. The limits end a run that
    # hangs; a busy machine stays far below them.
    with tempfile.TemporaryDirectory(prefix='nb') as runtime:
        os.environ['JUPYTER_RUNTIME_DIR'] = runtime
        config = Config({'KernelManager': {'transport': 'ipc', 'ip': runtime + '/k'}})
        book, _ = ExecutePreprocessor(timeout=900, startup_timeout=900, config=config).preprocess(
            nbformat.read(path, as_version=4), {'metadata': {'path': str(folder)}})
    figures = [o['data']['image/png'] for c in book['cells'] for o in c.get('outputs', []) if 'image/png' in o.get('data', {})]
    shots.mkdir(parents=True, exist_ok=True)
    for i, figure in enumerate(figures):
        (shots / ('%s-%d.png' % (path.stem, i + 1))).write_bytes(base64.b64decode(figure))
    return len(figures)


def by_hand(path):
    # no window; a kernel of Jupyter has its own way to show figures
    os.environ.setdefault('MPLBACKEND', 'agg')
    names = {'__name__': '__main__'}
    for i, cell in enumerate(json.loads(path.read_text())['cells']):
        if cell['cell_type'] == 'code':
            exec(compile(''.join(cell['source']), '%s[%d]' % (path.name, i), 'exec'), names)


try:
    import ipykernel  # noqa: F401
    import nbconvert  # noqa: F401
    run = by_nbconvert
except ImportError:
    run = by_hand
print('# executed %s' % run.__name__.replace('_', ' '))
notebooks = sorted(folder.glob('*.ipynb'))
same('notebooks', [n.stem for n in notebooks], ['contention', 'esp-tree', 'first-sum', 'load-latency', 'mpi', 'sans'])
if sys.argv[2:]:
    # in a guest, where a kernel of Jupyter takes long to start
    run = by_hand
    notebooks = [n for n in notebooks if n.stem in sys.argv[2:]]
for path in notebooks:
    book = json.loads(path.read_text())
    code = [c for c in book['cells'] if c['cell_type'] == 'code']
    same('%s: its form' % path.stem, (book['nbformat'], len({c['id'] for c in book['cells']})), (4, len(book['cells'])))
    point(all(not c['outputs'] and c['execution_count'] is None for c in code), '%s: stored without output' % path.stem)
    point(any('assert ' in ''.join(c['source']) for c in code), '%s: it checks what it shows' % path.stem)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            figures = run(path)
        point(True, '%s: it runs' % path.stem)
        if run is by_nbconvert and importlib.util.find_spec('matplotlib'):
            same('%s: a figure for each plot, in results/notebooks' % path.stem, figures,
                 sum(''.join(c['source']).count('\nplot(') for c in code))
    except Exception:
        point(False, '%s: it runs' % path.stem, traceback.format_exc(), said.getvalue())
finish()
