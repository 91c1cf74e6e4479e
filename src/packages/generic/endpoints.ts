import { z } from 'zod'
import { notFound } from '../../base/problem.ts'
import { Answer, bytes, endpoint } from '../../http/endpoint.ts'
import { oneOf, text } from '../../http/params.ts'
import { clientRead, clientWrite, onProjectPackages } from '../registry/access.ts'
import { answerPackageFile } from '../registry/download.ts'
import { genericFileEntity, presentGenericFile } from './entity.ts'
import { typeOf } from './file-type.ts'
import { readGenericNames } from './names.ts'
import { findGenericFile, uploadGenericFile } from './upload.ts'

const params = { package_name: text(), package_version: text(), file: text() }
const path = '/projects/:id/packages/generic/:package_name/:package_version/*file'

export const putGenericFile = endpoint({
  ...clientWrite,
  method: 'PUT',
  path,
  summary: 'Publish a file of a generic package',
  access: onProjectPackages('write_package'),
  params,
  query: {
    status: oneOf(['default', 'hidden']).optional(),
    select: oneOf(['package_file']).optional(),
  },
  raw: true,
  response: z.union([z.strictObject({ message: z.string() }), genericFileEntity]),
  status: 201,
  async handler({ ctx, project, params, query, request }) {
    const file = await uploadGenericFile(ctx, project, readGenericNames(params), query, request)
    if (query.select !== 'package_file') return { message: '201 Created' }
    return new Answer(presentGenericFile(ctx, file), { status: 200 })
  },
})

export const getGenericFile = endpoint({
  ...clientRead,
  method: 'GET',
  path,
  summary: 'Download a file of a generic package',
  access: onProjectPackages('read_packages'),
  params,
  response: bytes('application/octet-stream'),
  async handler({ ctx, project, params, request }) {
    const names = readGenericNames(params)
    const file = await findGenericFile(ctx, project, names)
    if (!file) throw notFound('Package file')
    return await answerPackageFile(ctx, request, file, {
      type: typeOf(names.saveAs),
      fileName: names.saveAs,
      headers: { 'X-Checksum-SHA256': file.file_sha256 },
    })
  },
})
