import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, flag, oneOf, text } from '../../http/params.ts'
import { createCommit } from '../commits/create-commit.ts'
import type { FileAction } from '../commits/file-actions.ts'
import { onPush, writesBranch } from '../repository/access.ts'
import { decodeBase64 } from '../repository/base64.ts'
import { filePath } from './file-path.ts'

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

type FileBody = z.infer<z.ZodObject<typeof common>> &
  Partial<z.infer<z.ZodObject<typeof content>>> & { readonly last_commit_id?: string | undefined }

interface FileInput {
  readonly kind: 'create' | 'update' | 'delete'
  readonly path: string
  readonly body: FileBody
}

const changedTexts = {
  create: '',
  update: 'You are attempting to update a file that has changed since you started editing it.',
  delete: 'You are attempting to delete a file that has been previously updated.',
} as const

/** Writes one file in a commit of its own. */
async function writeFile(
  ctx: Ctx,
  project: Project,
  input: FileInput,
): Promise<{ file_path: string; branch: string }> {
  const { kind, path, body } = input
  await createCommit(ctx, project, {
    branch: body.branch,
    force: false,
    startBranch: body.start_branch || undefined,
    message: body.commit_message,
    actions: [actionOf(input)],
    author: { name: body.author_name, email: body.author_email },
    changedText: () => changedTexts[kind],
    unchangedText: kind === 'update' ? 'The file is the same already' : undefined,
  })
  return { file_path: path, branch: body.branch }
}

function actionOf({ kind, path, body }: FileInput): FileAction {
  const lastCommitId = body.last_commit_id || undefined
  if (kind === 'delete') return { kind, path, lastCommitId }
  const content = readContent(body)
  return { kind, path, content, executable: body.execute_filemode, lastCommitId }
}

function readContent({ content = '', encoding }: FileBody): Buffer {
  if (encoding !== 'base64') return Buffer.from(content, 'utf8')
  const bytes = decodeBase64(content)
  if (!bytes) throw invalidText('content is not valid base64')
  return bytes
}

export const createRepositoryFile = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/files/:file_path',
  summary: 'Create a file in a commit of its own',
  access: onPush({ hidden: false }),
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
  access: onPush({ hidden: false }),
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
  access: onPush({ hidden: false }),
  params: { file_path: filePath() },
  body: { ...common, last_commit_id: text().optional() },
  conditions: [writesBranch],
  async handler({ ctx, project, params, body }) {
    await writeFile(ctx, project, { kind: 'delete', path: params.file_path, body })
  },
})
