import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, flag, oneOf, text } from '../../http/params.ts'
import { onWritableCode, writesBranch } from '../repository/access.ts'
import { filePath } from './file-path.ts'
import { writeFile } from './write-file.ts'

const writtenEntity = z.strictObject({ file_path: z.string(), branch: z.string() })
/** Base64 takes a third more than the bytes, and JSON a little again. */
const FILE_BODY = 300 * 1024 * 1024

const common = {
  branch: filledText(),
  commit_message: filledText(),
  start_branch: text().optional(),
  author_email: text().optional(),
  author_name: text().optional(),
}

const LONGEST_CONTENT = 280 * 1024 * 1024
const content = {
  content: text({ max: LONGEST_CONTENT }),
  encoding: oneOf(['text', 'base64']).default('text'),
  execute_filemode: flag().optional(),
}

export const createRepositoryFile = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Create a file in a commit of its own',
  access: onWritableCode('push_code'),
  params: { file_path: filePath() },
  body: { ...common, ...content },
  maxBody: FILE_BODY,
  conditions: [writesBranch],
  response: writtenEntity,
  async handler({ ctx, project, params, body }) {
    return await writeFile(ctx, project, { kind: 'create', path: params.file_path, body })
  },
})

export const updateRepositoryFile = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Change a file in a commit of its own',
  access: onWritableCode('push_code'),
  params: { file_path: filePath() },
  body: { ...common, ...content, last_commit_id: text().optional() },
  maxBody: FILE_BODY,
  conditions: [writesBranch],
  response: writtenEntity,
  async handler({ ctx, project, params, body }) {
    return await writeFile(ctx, project, { kind: 'update', path: params.file_path, body })
  },
})

export const deleteRepositoryFile = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Delete a file in a commit of its own',
  access: onWritableCode('push_code'),
  params: { file_path: filePath() },
  body: { ...common, last_commit_id: text().optional() },
  conditions: [writesBranch],
  async handler({ ctx, project, params, body }) {
    await writeFile(ctx, project, { kind: 'delete', path: params.file_path, body })
  },
})
