import { Readable } from 'node:stream'
import { z } from 'zod'
import { findPaths } from '../../git/objects/find-paths.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import { Answer, bytes, endpoint } from '../../http/endpoint.ts'
import { filledText, flag, hash, integer, text } from '../../http/params.ts'
import { codeRead } from '../repository/access.ts'
import { HELD, streamBlobJson } from '../repository/blob-json.ts'
import { countLargeBlob } from '../repository/blob-limit.ts'
import { orNotFound } from '../repository/missing.ts'
import { answerBlob } from '../repository/raw.ts'
import { assertRange, blameEntity, readBlameOf } from './blame.ts'
import { fileEntity, fileHeaders, presentFile } from './entity.ts'
import { filePath } from './file-path.ts'
import { fileRef, getFile } from './find-file.ts'
import { answerPointedFile } from './large-file.ts'

export const getRepositoryFile = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Read a file with what is known about it',
  ...codeRead(),
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
  summary: 'Get the facts of a file in headers alone',
  ...codeRead(),
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
  ...codeRead(),
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
    const asked = { ctx, project, repo, file, request, headers }
    const pointed = query.lfs ? await answerPointedFile(asked) : undefined
    if (pointed) return pointed
    return await answerBlob(repo, file.blobId, request, headers, admit)
  },
})

const blameQuery = {
  ref: filledText().optional(),
  range: hash({ start: integer({ min: 1 }), end: integer({ min: 1 }) }).optional(),
}

export const getRepositoryFileBlame = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files/:file_path/blame',
  summary: 'Get the commit that each line of a file comes from',
  ...codeRead(),
  params: { file_path: filePath() },
  query: blameQuery,
  response: blameEntity,
  async handler({ ctx, project, repo, params, query, request }) {
    const ref = fileRef(project, query.ref)
    assertRange(query.range)
    const file = await getFile(repo, ref, params.file_path, undefined, request.signal)
    const headers = fileHeaders(ctx, file, query.ref ?? 'HEAD')
    return new Answer(await readBlameOf(repo, file, query.range, request.signal), { headers })
  },
})

export const headRepositoryFileBlame = endpoint({
  method: 'HEAD',
  path: '/projects/:id/repository/files/:file_path/blame',
  summary: 'Get the facts of a file in headers alone, as its blame does',
  ...codeRead(),
  params: { file_path: filePath() },
  query: blameQuery,
  response: bytes('application/json'),
  async handler({ ctx, project, repo, params, query, request }) {
    const ref = fileRef(project, query.ref)
    assertRange(query.range)
    const file = await getFile(repo, ref, params.file_path, undefined, request.signal)
    const headers = fileHeaders(ctx, file, query.ref ?? 'HEAD')
    return { body: Readable.from([]), type: 'application/json', headers }
  },
})

export const findRepositoryFiles = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/file_paths',
  summary: 'Find files by their paths, those that fit best first',
  ...codeRead(),
  query: {
    ref: filledText().optional(),
    search: text({ max: 300 }).default(''),
    per_page: integer({ min: 1, max: 100 }).default(20),
  },
  response: z.array(z.string()),
  async handler({ project, repo, query, request }) {
    const asked = { ref: fileRef(project, query.ref), search: query.search, limit: query.per_page }
    return await orNotFound('Commit', findPaths(repo, asked, request.signal))
  },
})
