import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type FileAt, readFileAt } from '../../git/history/file.ts'
import { createCommit } from '../commits/create-commit.ts'
import { retryWhenOvertaken } from '../repository/branch-queue.ts'
import { ifFound } from '../repository/missing.ts'
import { type ChangelogInput, generateSection } from './generate.ts'
import { insertSection } from './insert-section.ts'

export interface ChangelogCommit extends ChangelogInput {
  readonly branch: string
  readonly file: string
  readonly message: string
}

const LARGEST_FILE = 32 * 1024 * 1024
const CHANGED = 'the changelog has changed meanwhile'
const EXISTS = 'A file with this name already exists'

/**
 * Puts the section of a version into the changelog file of a branch, in a commit. A version that the file has already
 * changes nothing. Done again when somebody else changed the file meanwhile (docs/contract/B-resolved §1.8 rule 7).
 */
export async function commitChangelog(
  ctx: Ctx,
  project: Project,
  input: ChangelogCommit,
  signal?: AbortSignal,
): Promise<void> {
  const { version, section } = await generateSection(ctx, project, input, signal)
  const repo = ctx.git.open(project.id)
  const ref = `refs/heads/${input.branch}`
  const insert = async () => {
    const options = { ref, path: input.file, contentUpTo: LARGEST_FILE }
    const file = await ifFound(readFileAt(repo, options))
    const text = insertSection(file?.content?.toString('utf8') ?? '', version, section)
    if (text !== undefined) await write(ctx, project, input, file, text)
  }
  await retryWhenOvertaken(
    insert,
    (error) => error instanceof Problem && [CHANGED, EXISTS].includes(error.message),
  )
}

async function write(
  ctx: Ctx,
  project: Project,
  input: ChangelogCommit,
  file: FileAt | undefined,
  text: string,
): Promise<void> {
  const content = Buffer.from(text, 'utf8')
  const { file: path, branch, message } = input
  await createCommit(ctx, project, {
    branch,
    message,
    force: false,
    actions: [
      file
        ? { kind: 'update', path, content, lastCommitId: file.lastCommitId }
        : { kind: 'create', path, content },
    ],
    changedText: () => CHANGED,
  })
}
