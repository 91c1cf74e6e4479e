import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { isTagName } from '../../git/names.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { findRef } from '../../git/refs/refs.ts'
import { noObject } from '../../git/types.ts'
import { writeTag } from '../../git/write/write-tag.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { isProhibited } from '../refs/prohibited-names.ts'
import { ifFound } from '../repository/missing.ts'
import { signerOf } from '../repository/signer.ts'

/** Makes a tag where a ref stands, annotated when it has a message (docs/contract/B-resolved §4). */
export async function createTag(
  ctx: Ctx,
  project: Project,
  input: { readonly name: string; readonly ref: string; readonly message?: string | undefined },
): Promise<void> {
  const { name, ref } = input
  if (!isTagName(name) || isProhibited(name)) throw invalidText('Tag name invalid')
  const repo = ctx.git.open(project.id)
  const full = `refs/tags/${name}`
  if (await findRef(repo, full)) throw invalidText(`Tag ${name} already exists`)
  const target = await ifFound(resolveRevision(repo, ref))
  if (!target) throw invalidText(`Target ${ref} is invalid`)
  const message = input.message?.trimEnd() ?? ''
  const tag = {
    name,
    targetId: target.commitId,
    tagger: signerOf(ctx),
    message: `${message}\n`,
  }
  const newId = message === '' ? target.commitId : await writeTag(repo, tag)
  try {
    await moveRefs(ctx, project, { via: 'api', moves: [{ name: full, oldId: noObject, newId }] })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    if (error.code === 'stale' || error.code === 'exists') {
      throw invalidText(`Tag ${name} already exists`)
    }
    throw error.code === 'conflict' ? invalidText('Tag name invalid') : error
  }
}
