import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { createCommit } from '../commits/create-commit.ts'
import type { FileAction } from '../commits/file-actions.ts'
import { decodeBase64 } from '../repository/base64.ts'

interface FileBody {
  readonly branch: string
  readonly commit_message: string
  readonly start_branch?: string | undefined
  readonly author_email?: string | undefined
  readonly author_name?: string | undefined
  readonly content?: string | undefined
  readonly encoding?: 'text' | 'base64' | undefined
  readonly execute_filemode?: boolean | undefined
  readonly last_commit_id?: string | undefined
}

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
export async function writeFile(
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
