import { Readable } from 'node:stream'
import { Answer, bytes, endpoint } from '../../http/endpoint.ts'
import { filledText, flag } from '../../http/params.ts'
import { onCode } from '../repository/access.ts'
import { HELD, streamBlobJson } from '../repository/blob-json.ts'
import { countLargeBlob } from '../repository/blob-limit.ts'
import { answerBlob } from '../repository/raw.ts'
import { contentDisposition } from './content-disposition.ts'
import { fileEntity, fileHeaders, presentFile } from './entity.ts'
import { filePath } from './file-path.ts'
import { fileRef, getFile } from './find-file.ts'

const readScopes = ['api', 'read_api', 'read_repository']

export const getRepositoryFile = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Read a file with what is known about it',
  tags: ['files'],
  access: onCode(),
  scopes: readScopes,
  params: { file_path: filePath() },
  query: { ref: filledText().optional() },
  response: fileEntity,
  async handler({ ctx, project, repo, params, query, request }) {
    const ref = fileRef(project, query.ref)
    const file = await getFile(repo, ref, params.file_path, HELD, request.signal)
    countLargeBlob(ctx, project, file.size, request)
    const shown = query.ref ?? 'HEAD'
    const headers = fileHeaders(ctx, file, shown)
    const fields = presentFile(file, shown)
    if (!file.content) {
      return await streamBlobJson(repo, file.blobId, fields, request.signal, headers)
    }
    return new Answer({ ...fields, content: file.content.toString('base64') }, { headers })
  },
})

export const headRepositoryFile = endpoint({
  method: 'HEAD',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Tell about a file in headers alone',
  tags: ['files'],
  access: onCode(),
  scopes: readScopes,
  params: { file_path: filePath() },
  query: { ref: filledText().optional() },
  response: bytes('application/json'),
  async handler({ ctx, project, repo, params, query, request }) {
    const ref = fileRef(project, query.ref)
    const file = await getFile(repo, ref, params.file_path, undefined, request.signal)
    const headers = fileHeaders(ctx, file, query.ref ?? 'HEAD')
    return { body: Readable.from([]), type: 'application/json', headers }
  },
})

export const getRawRepositoryFile = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path/raw',
  summary: 'Download a file',
  tags: ['files'],
  access: onCode(),
  scopes: readScopes,
  jobToken: true,
  params: { file_path: filePath({ leadingSlash: true }) },
  query: { ref: filledText().optional(), lfs: flag().default(false) },
  response: bytes('text/plain'),
  async handler({ ctx, project, repo, params, query, request }) {
    const ref = fileRef(project, query.ref)
    const file = await getFile(repo, ref, params.file_path, undefined, request.signal)
    const headers = {
      ...fileHeaders(ctx, file, query.ref ?? 'HEAD'),
      'Content-Disposition': contentDisposition('inline', file.name),
    }
    const admit = (size: number) => countLargeBlob(ctx, project, size, request)
    return await answerBlob(repo, file.blobId, request, headers, admit)
  },
})
