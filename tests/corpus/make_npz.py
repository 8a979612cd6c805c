"""Writes the seeds in tests/corpus/npz: good files of every kind, and files with one thing wrong each.

Run with a Python that has numpy and ml_dtypes; gives the same bytes every time. Files that fuzzing found are
added by hand beside these and are not touched.
"""
import io
import os
import struct
import zipfile
import zlib

import ml_dtypes
import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'npz')


def put(name, data):
    with open(os.path.join(FOLDER, name), 'wb') as f:
        f.write(data)


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), version=version)
    return out.getvalue()


def raw(header, data=b'', version=b'\x01\x00', size=None):
    width = '<H' if version[0] == 1 else '<I'
    return b'\x93NUMPY' + version + struct.pack(width, len(header) if size is None else size) + header + data


def dictionary(descr='<f4', shape='(2,)', order='False'):
    return ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)).encode()


def archive(members, method=zipfile.ZIP_STORED, zip64=False):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', method) as z:
        for name, data in members:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            with z.open(info, 'w', force_zip64=zip64) as f:
                f.write(data)
    return out.getvalue()


def good():
    names = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16']
    for name in names:
        data = np.arange(6).reshape(2, 3).astype(name)
        put('npy_%s' % name.replace('?', 'b1'), npy(data))
        put('npy_fortran_%s' % name.replace('?', 'b1'), npy(np.asfortranarray(data)))
        put('npy_big_%s' % name.replace('?', 'b1'), npy(data.astype(np.dtype(name).newbyteorder('>'))))
    for name in ['bfloat16', 'float8_e5m2', 'float8_e4m3fn', 'float8_e8m0fnu', 'float6_e3m2fn',
                 'float4_e2m1fn', 'int4', 'uint4', 'int2', 'uint2']:
        put('npy_' + name, npy(np.array([0, 1, 1], np.float32).astype(getattr(ml_dtypes, name))))
    for shape in [(), (0,), (1,), (0, 5), (5, 0), (1, 1, 1, 1, 1), (2, 2, 2)]:
        put('npy_shape_' + '_'.join(map(str, shape)), npy(np.zeros(shape, np.float32)))
    for version in [(1, 0), (2, 0), (3, 0)]:
        put('npy_version_%d' % version[0], npy(np.arange(2), version))
    a, b = npy(np.float32([1, 2])), npy(np.int64(7))
    members = [('arg0.npy', a), ('arg1.0.npy', b)]
    put('npz_stored', archive(members))
    put('npz_deflated', archive(members, zipfile.ZIP_DEFLATED))
    put('npz_zip64', archive(members, zip64=True))
    put('npz_zip64_deflated', archive(members, zipfile.ZIP_DEFLATED, True))
    put('npz_prefixed', archive([('r0p0/arg0.npy', a), ('r1p0/arg0.npy', a)]))
    put('npz_empty', archive([]))
    put('npz_many', archive([('arg%d.npy' % i, b) for i in range(12)]))
    put('npz_comment', archive(members)[:-2] + b'\x05\x00hello')
    put('npz_prefix_bytes', b'#!/bin/sh\n' + archive(members))


def bad_npy():
    put('bad_magic', b'\x93NUMPX' + npy(1)[6:])
    put('bad_version', raw(dictionary(), b'12345678', b'\x09\x00'))
    put('bad_header_size', raw(b'', size=65535))
    put('bad_header_size_v2', raw(b'', version=b'\x02\x00', size=2**32 - 1))
    put('bad_header_limit', raw(dictionary() + b' ' * (10000 - len(dictionary())), b'12345678'))
    put('bad_header_over_limit', raw(dictionary() + b' ' * (10001 - len(dictionary())), b'12345678'))
    headers = [b'', b'{', b'{}', b'[]', b"{'descr'", b"{'descr':", b"{'descr': 5}", b"{'descr': '<f4'",
               b"{'a': 1}",
               b"{'descr': '<f4', 'descr': '<f4'}", b"{'descr", b"{\x00}", b'{' * 5000, b"{'shape': (((((("]
    for i, header in enumerate(headers):
        put('bad_header_%02d' % i, raw(header, b'12345678'))
    for i, descr in enumerate(
        ['|O', 'O', '<U4', '<S4', '<M8[ns]', '<f', 'f', '', '<', '<f0', '<f3', '<f999999',
                               '<V8', '|V3', '<i16', '>c8', '=f4', '<f-4', "<f4'", '\\x00']):
        put('bad_descr_%02d' % i, raw(dictionary(descr), b'12345678'))
    shapes = ['2', '(2)', '(-1,)', '(2.0,)', '(2', '(2,,)', '(9223372036854775807,)',
              '(9223372036854775808,)',
              '(4294967296, 4294967296)', '(0, 9223372036854775807, 3)', '(2L,)', '(True,)',
              '(' + '1,' * 65 + ')', '(' + '1,' * 64 + '2)', '(1e3,)', '(02,)', '( 2 , )']
    for i, shape in enumerate(shapes):
        put('bad_shape_%02d' % i, raw(dictionary(shape=shape), b'12345678'))
    put('bad_structured',
        raw(b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", b'12345678'))
    put('bad_data_short', npy(np.float32([1, 2]))[:-1])
    put('bad_data_long', npy(np.float32([1, 2])) + b'x')


def bad_npz():
    a = npy(np.float32([1, 2]))
    whole = archive([('a.npy', a)], zipfile.ZIP_DEFLATED)
    put('bad_zip_duplicate', archive([('a.npy', a), ('b.npy', a)]).replace(b'b.npy', b'a.npy'))
    put('bad_zip_not_npy', archive([('a.txt', a)]))
    put('bad_zip_member', archive([('a.npy', b'hello')]))
    put('bad_zip_folder', archive([('a/', b'')]))
    put('bad_zip_name_nul', archive([('ab.npy', a)]).replace(b'ab.npy', b'a\x00.npy'))
    put('bad_zip_empty_name', archive([('.npy', a)]))
    put('bad_zip_method', whole.replace(b'\x08\x00\x00\x00', b'\x0c\x00\x00\x00'))
    put('bad_zip_encrypted', whole.replace(b'\x14\x00\x00\x00\x08', b'\x14\x00\x01\x00\x08'))
    put('bad_zip_crc', archive([('a.npy', a)]).replace(struct.pack('<I', zlib.crc32(a)), b'\x00\x01\x02\x03'))
    put('bad_zip_bomb', archive([('a.npy', npy(np.zeros(2000000, np.uint8)))], zipfile.ZIP_DEFLATED))
    put('bad_zip_size', whole.replace(struct.pack('<I', len(a)), struct.pack('<I', len(a) - 1)))
    put('bad_zip_size_large', whole.replace(struct.pack('<I', len(a)), struct.pack('<I', 2**31)))
    put('bad_zip_size_zip64', whole.replace(struct.pack('<I', len(a)), b'\xff\xff\xff\xff'))
    for cut in [1, 10, 22, 23, 40, 70, len(whole) - 5]:
        put('bad_zip_cut_%03d' % cut, whole[:-cut])
    put('bad_zip_no_start', whole[30:])
    put('bad_zip_end_only', whole[-22:])
    put('bad_zip_count', whole[:-14] + b'\x05\x00\x05\x00' + whole[-10:])
    put('bad_zip_directory_offset', whole[:-6] + b'\xff\xff\xff\x7f\x00\x00')
    for name, offset in (('none', b'\xff' * 8), ('zero', b'\x00' * 8)):
        put('bad_zip64_locator_' + name,
            whole[:-22] + b'PK\x06\x07\x00\x00\x00\x00' + offset + b'\x01\x00\x00\x00' +
            whole[-22:-14] + b'\xff' * 12 + b'\x00\x00')


os.makedirs(FOLDER, exist_ok=True)
good()
bad_npy()
bad_npz()
