"""Rules for dependencies between rooms: a file may include and call only the rooms that its room sees. A
room is a top-level part such as net, or a folder of src.

    base ◄─ net ◄─ node ◄─ state ◄─ config ◄─┬─ daemon ◄─ commands ◄─ main
    base ◄─ model ◄─────── state             │    └───── library
    base ◄─ page ◄─ web ◄─ daemon
    base ◄─ plot ◄───────────────────────────┼─────────── commands
                                             └─ sim ◄──────────────── hearsay-sim
    state ◄─ onnx ◄─ commands
    node, model ◄─ executor ◄─ sim, daemon; socket is the part of net that uses libuv

    tests/unit/ROOM and tests/support/ROOM have the rules of ROOM

    inside net, model and sim, a folder sees those before it in INSIDE

    inside src/node, a part may see the parts of earlier lines and itself:
        shared headers (node.h, admission.h, inspect.h, notes.h, core.h)
        lifecycle
        connection · membership   (which do not see each other)
        rate · orders             (which do not see each other)
        broadcast
        discovery
        transfer
        join · leave · finish · settle · first_weights
        governance · inference    (which do not see each other)
        dispatch · timers
        node, inspect             (the public interface)
"""

SEES = {
    'base': {'base'},
    'net': {'base', 'net'},
    'model': {'base', 'model'},
    'node': {'base', 'net', 'node'},
    'state': {'base', 'net', 'model', 'node', 'state'},
    'onnx': {'base', 'net', 'model', 'node', 'state', 'onnx'},
    'executor': {'base', 'net', 'model', 'node', 'executor'},
    'config': {'base', 'net', 'model', 'node', 'state', 'config'},
    'page': {'base', 'page'},
    'web': {'base', 'net', 'page', 'web'},
    'sim': {'base', 'net', 'model', 'node', 'state', 'config', 'executor', 'page', 'sim'},
    'daemon': {'base', 'net', 'socket', 'model', 'node', 'state', 'config', 'executor', 'web', 'daemon'},
    'library': {'base', 'net', 'socket', 'model', 'node', 'state', 'config', 'executor', 'web', 'daemon', 'library'},
    'plot': {'base', 'plot'},
    'commands': {'base', 'plot', 'net', 'socket', 'model', 'node', 'state', 'config', 'executor', 'web', 'daemon',
                 'onnx', 'commands'},
    'socket': {'base', 'net', 'socket'},
}
# Folders of a room: each sees only those of earlier rows and itself.
INSIDE = {
    'net': (('frame',), ('crypto',), ('wire',), ('socket',)),
    'model': (('backend',), ('data', 'exchange', 'layers'), ('training',)),
    'sim': (('events', 'jobs'), ('scenario',), ('network',), ('world',), ('faults',), ('experiment',),
            ('report', 'strategies', 'storm'), ('comparison',), ('options',), ('commands',)),
}
HAS_CLOCK = {'base', 'socket', 'state', 'daemon', 'library', 'commands', 'sim'}
CLOCK = 'include/base/system_clock.h'
LEVEL_OF_ROOM = {'lifecycle': 1, 'connection': 2, 'membership': 2, 'rate': 3, 'orders': 3, 'broadcast': 4,
                 'discovery': 5, 'transfer': 6, 'governance': 8}
LEVEL_OF_FILE = {'join': 7, 'leave': 7, 'finish': 7, 'settle': 7,
                 'first_weights': 7,
                 'inference': 8, 'dispatch': 9, 'timers': 9, 'node': 10, 'inspect': 10}
COMMON = 0


def room_of(path):
    """Returns the room of a file; None for main.c and for tests that may see everything. A unit test or
    its support has the room that its folder names."""
    parts = path.split('/')
    if parts[0] == 'tests' and parts[1] in ('unit', 'support'):
        return parts[2] if len(parts) > 3 else None
    if path.startswith('net/socket/'):
        return 'socket'  # the part of net that uses libuv
    if parts[0] in ('include', 'src'):
        return parts[1] if len(parts) > 2 else None
    return parts[0] if parts[0] in SEES else None


def level_of(path):
    """Returns (level, folder) of a file of src/node. All levels see the public headers."""
    parts = path.split('/')
    if len(parts) > 3:
        return LEVEL_OF_ROOM.get(parts[2], COMMON), parts[2]
    if parts[2] in ('node.h', 'inspect.h'):
        return COMMON, ''
    return LEVEL_OF_FILE.get(parts[2].partition('.')[0], COMMON), ''


def why_not_inside(path, target):
    """Returns the reason why a file may not see one of its own room, or None if it may."""
    top, _, rest = path.partition('/')
    top_of_target, _, rest_of_target = target.partition('/')
    if top != top_of_target or top not in INSIDE:
        return None
    folder, other = rest.partition('/')[0], rest_of_target.partition('/')[0]
    level = {name: i for i, row in enumerate(INSIDE[top]) for name in row}
    if folder == other or level.get(folder, -1) > level.get(other, -1):
        return None
    return f'{top}/{folder} does not see {top}/{other}'


def why_not(path, target):
    """Returns the reason why `path` may not see `target`, or None if it may."""
    inside = why_not_inside(path, target)
    if inside:
        return inside
    room, other = room_of(path), room_of(target)
    if room not in SEES or other not in SEES:
        return None
    if other not in SEES[room]:
        return f'{room} does not see {other}'
    if target == CLOCK and room not in HAS_CLOCK and not path.startswith('tests/'):
        return f'{room} reads no clock'
    if path.startswith('src/node/') and target.startswith('src/node/'):
        (level, folder), (upper, there) = level_of(path), level_of(target)
        if upper > level:
            return f'{target} is above {path}'
        if upper == level and there != folder:
            return f'{target} is on the same level as {path}: neither may see the other'
    return None


def why_no_library(path, name):
    """Returns the reason why `path` may not include the system header `name`, or None if it may."""
    room = room_of(path)
    if name == 'uv.h' and room and room not in ('socket', 'daemon', 'commands'):
        return f'{room} works without libuv'
    if name == 'time.h' and room in SEES and room not in HAS_CLOCK and not path.startswith('tests/'):
        return f'{room} reads no clock'
    return None
