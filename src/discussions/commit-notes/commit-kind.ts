import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Commit } from '../../git/types.ts'
import { text } from '../../http/params.ts'
import { getCommit } from '../../repositories/commits/describe-commit.ts'
import { MoveRefused } from '../../repositories/refs/move-refs.ts'
import { createTag } from '../../repositories/tags/create-tag.ts'
import { takeCommands } from '../notes/commands.ts'
import type { AskedPosition, NoteKind } from '../notes/kind.ts'
import type { Noteable } from '../notes/noteable.ts'
import { recordComment } from '../references/after-comment.ts'
import { followText } from '../references/follow-text.ts'
import { mayTagCommits } from './access.ts'
import { findPosition } from './commented-line.ts'
import { commitNoteable } from './noteable.ts'

const known = new Set(['tag'])

/** `/tag v1.0 message`, the one quick action of commits (docs/contract/B-resolved §11.2). */
async function readTagCommands(ctx: Ctx, noteable: Noteable, body: string) {
  const { text, commands } = takeCommands(body, known)
  const asked = commands.at(-1)
  if (!asked) return undefined
  const nothing = { changes: {}, summary: [] }
  return {
    body: text,
    async run() {
      const [name = '', ...words] = asked.argument.split(' ')
      const message = words.join(' ')
      const { project, commitId } = noteable
      if (name === '' || !mayTagCommits(ctx, project)) return nothing
      try {
        await createTag(ctx, project, { name, ref: commitId ?? '', message })
      } catch (error) {
        if (error instanceof Problem || error instanceof MoveRefused) return nothing
        throw error
      }
      const said = message === '' ? '' : ` with "${message}"`
      return {
        changes: { tag_name: name, tag_message: message === '' ? null : message },
        summary: [`Tagged this commit to ${name}${said}.`],
      }
    },
  }
}

/** What stands for the parent of a commit that has none. */
const NO_COMMIT = /^0+$/

/** Whether a position names the commit, and its parent as what it is compared with (docs/contract/B-resolved §11). */
function isOfCommit(asked: AskedPosition, { id, parentIds: [parent] }: Commit): boolean {
  return (
    asked.head_sha === id &&
    [asked.base_sha, asked.start_sha].every((sha) =>
      parent === undefined ? NO_COMMIT.test(sha ?? '0') : sha === parent,
    )
  )
}

/** Commits as something that threads hang on (docs/contract/B-resolved §11): they can't be resolved. */
export const commitKind: NoteKind = {
  path: '/projects/:id/repository/commits/:sha',
  params: { sha: text({ max: 1024 }) },
  tag: 'commits',
  ability: 'read_code',
  resolvable: false,
  async find(ctx, project, params) {
    const commit = await getCommit(ctx.git.open(project.id), String(params.sha))
    return commitNoteable(ctx, project, commit)
  },
  async place(ctx, noteable, asked) {
    const repo = ctx.git.open(noteable.project.id)
    const commit = await getCommit(repo, noteable.commitId ?? '')
    const found = isOfCommit(asked, commit) && (await findPosition(repo, commit, asked))
    if (found) return found
    throw badRequest('Note {:line_code=>["can\'t be blank", "must be a valid line code"]}')
  },
  readCommands: readTagCommands,
  async afterNote(ctx, noteable, row) {
    await recordComment(ctx, noteable, row)
    await followText(ctx, noteable, row.body, row)
  },
  afterEdit: (ctx, noteable, row) => followText(ctx, noteable, row.body, row),
}
