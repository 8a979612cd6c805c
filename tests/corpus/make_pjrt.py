"""Writes the seeds in tests/corpus/pjrt: sequences of calls that come far, or have one thing wrong.

tests/fuzz/pjrt_session.cc says how calls are written. Gives the same bytes every time. Files that fuzzing
found are added by hand beside these and are not touched.
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, 'pjrt')
with open(os.path.join(HERE, '../../pjrt/plugin/pjrt_functions.def'), encoding='ascii') as file:
    NUMBERS = {name: k for k, name in enumerate(re.findall(r'^FUNCTION\((\w+)\)', file.read(), re.M))}
NUMBERS.update(Layouts=200, Ffi=210, NewClient=220, Threads=221)
F32, S4, S32 = 11, 21, 4
DOUBLE, DONATING, TWO, LAYOUT, CONSTANTS, TOKEN, REPLICAS, NOBODY, FREE, WRONG, EMPTY = range(11)


def call(name, *values, size=0):
    return bytes([NUMBERS[name], size, *values])


def compiled(program, options=0, form=0, how=0, client=1):
    return call('Client_Compile', client, program, form, options, how)


# Sizes and strides by their places in the lists of pjrt_session_buffers.cc: size 0 is 4, stride 0 is 4.
def put(kind=F32, sizes=(0,), how=0, strides=(), device=1, memory=0, layout=(0,)):
    return call('Client_BufferFromHostBuffer', 1, kind, len(sizes), *sizes, how, *strides, device, memory,
                *layout)


def execute(loaded, *arguments, how=0, devices=1, kept=(), more=0, on=0):
    return call('LoadedExecutable_Execute', loaded, how | (devices != 1), devices << 4 | len(arguments),
                *arguments * devices, len(kept), *kept, more, on)


def fetch(buffer, how=0, layout=(0,)):
    return call('Buffer_ToHostBuffer', buffer, how, *layout)


def layouts(function, *values):
    return bytes([NUMBERS['Layouts'] + function, 0, *values])


SEEDS = {
    'runs': compiled(DOUBLE) + put() + execute(1, 1) + fetch(2) + call('Event_Await', 1),
    'donates': compiled(DONATING) + put() + put() + execute(1, 1, 2, kept=(0,)) + execute(1, 1, 2) + fetch(1),
    'donates_the_same_twice': compiled(DONATING) + put() + execute(1, 1, 1),
    'donates_beside_what_was_deleted': compiled(DONATING) + put() + put() + call('Buffer_Delete', 2) +
                                       execute(1, 1, 2),
    'donates_to_both_replicas': compiled(DONATING, options=1) + put() + put() + execute(1, 1, 2, devices=2),
    'two_results': compiled(TWO) + put(sizes=(7,), how=0x20) + execute(1, 1) + call('Event_OnReady', 1, 0) +
                   call('Buffer_Destroy', 1) + fetch(1),
    'replicas': compiled(REPLICAS, options=1) + put(sizes=()) + put(sizes=()) + call(
        'LoadedExecutable_Execute', 1, 0, 1, 1, 2, 0, 0, 0),
    'assigned': compiled(REPLICAS, options=4) + call('LoadedExecutable_GetDeviceAssignment', 1),
    'partitions': compiled(DOUBLE, options=3) + call('LoadedExecutable_AddressableDeviceLogicalIds', 1),
    'layout': compiled(LAYOUT) + put(S32, (3, 4)) + execute(1, 1) + call('Buffer_GetMemoryLayout', 2) +
              fetch(2, layout=(1, 0, 1)) + layouts(3, 0, 0, 0, 2) + layouts(1, 0, 1, 0),
    'strides': put(S32, (3, 4), how=1, strides=(5, 7)) + fetch(1, layout=(2, 8, 7)),
    'strides_beyond_the_target': put(S32, (3, 4)) + fetch(1, layout=(2, 6, 0)),
    'unbounded': put(F32, (9,)),
    'too_many_dimensions': call('Client_BufferFromHostBuffer', 1, F32, 6),
    'narrow': put(S4, (0, 4)) + fetch(1) + call('Buffer_CopyRawToHost', 1, 0, 2),
    'token': compiled(TOKEN) + put(23, ()) + execute(1, 1) + fetch(2) + call('Buffer_UnsafePointer', 1),
    'constants': compiled(CONSTANTS) + execute(1) + fetch(1) + fetch(2),
    'nobody': compiled(NOBODY) + execute(1),
    'device_of_another_client': compiled(CONSTANTS) + execute(1, on=4),
    'view': call('Client_CreateViewOfDeviceBuffer', 1, F32, 1, 0, 0, 0, 1, 0) +
            call('Buffer_IncreaseExternalReferenceCount', 1) + call('Buffer_Delete', 1) +
            call('Buffer_DecreaseExternalReferenceCount', 1),
    'uninitialized': call('Client_CreateUninitializedBuffer', 1, F32, 2, 3, 4, 0, 0, 2) + fetch(1, how=4),
    'copies': put() + call('Buffer_CopyToDevice', 1, 2) + call('Buffer_CopyToMemory', 1, 3) + fetch(3),
    'serialized': compiled(DOUBLE) + call('Executable_DeserializeAndLoad', 1, 1, 0, 0, 0) +
                  call('Executable_DeserializeAndLoad', 1, 1, 128, 0, 0) +
                  call('Executable_DeserializeAndLoad', 1, 1, 0, 19, 0),
    'asked': compiled(DOUBLE) + b''.join(
        call(name, 1) for name in NUMBERS if name.startswith('Executable_') and name != 'Executable_Destroy'),
    'optimized': compiled(DOUBLE) + call('Executable_OptimizedProgram', 1, 1, 200) +
                 call('Executable_OptimizedProgram', 1, 0x40),
    'short_structs': b''.join(call(name, size=2) for name in NUMBERS),
    'null': b''.join(call(name, 0, 0, 0, 0) for name in NUMBERS if name != 'Client_Destroy'),
    'short_program': compiled(DOUBLE, how=0x40) + compiled(DOUBLE, how=2) + compiled(DOUBLE, how=1),
    'short_options': compiled(DOUBLE) + put() + execute(1, 1, more=0x40) + execute(1, 1, more=4),
    'clients': call('NewClient', 1, 0, 0, 0, 0, 0, 0) + call('NewClient', 1, 0, 0, 1, 1, 3) +
               call('NewClient', 2, 2, 0, 0, 3, 1, 5, 0, 0, 3, 0),
    'assignment': call('Client_DefaultDeviceAssignment', 1, 3, 2, 0) +
                  call('Client_DefaultDeviceAssignment', 1, 3, 5, 6),
    'threads': compiled(DOUBLE) + put() + call('Threads', *[8, 1, 1, 1, 0] * 4, *[0, 1, 1, 1, 0] * 4) +
               call('Threads', *[5, 1, 1, 1, 0] * 4, *[6, 1, 1, 1, 0] * 4),
    'threads_donate': compiled(DONATING) + put() + put() +
                      call('Threads', *[8, 1, 1, 1, 1] * 4, *[2, 1, 1, 1, 0, 3, 1, 1, 1, 0] * 2),
    'wrong_programs': b''.join(compiled(p, form=f) for p in (FREE, WRONG, EMPTY) for f in range(5)),
}

os.makedirs(FOLDER, exist_ok=True)
for seed, data in SEEDS.items():
    with open(os.path.join(FOLDER, seed), 'wb') as file:
        file.write(data)
