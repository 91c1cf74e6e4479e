import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCommit } from '../../../git/objects/commit.ts'
import { resolveRevision } from '../../../git/objects/revision.ts'
import { branchStates, tagProtection } from '../../../repositories/refs/branch-state.ts'
import { ifFound } from '../../../repositories/repository/missing.ts'
import { configFault } from '../../config/fault.ts'
import type { PipelineRef } from './known-variables.ts'

/** The branch or tag that a pipeline is wanted for: 400 when there is none (docs/contract/D §1.15). */
export async function findPipelineRef(
  ctx: Ctx,
  project: Project,
  given: string,
): Promise<PipelineRef> {
  const [, kind, name = given] = /^refs\/(heads|tags)\/(.+)$/.exec(given) ?? []
  const repo = ctx.git.open(project.id)
  const branch =
    kind === 'tags' ? undefined : await ifFound(resolveRevision(repo, name, { kind: 'branch' }))
  const tag =
    kind === 'heads' ? undefined : await ifFound(resolveRevision(repo, name, { kind: 'tag' }))
  if (branch && tag) throw configFault('Ref is ambiguous')
  const found = branch ?? tag
  if (!found) throw configFault('Reference not found')
  const isProtected = tag
    ? (await tagProtection(ctx, project))(name)
    : (await branchStates(ctx, project))(name).protected
  const commit = await readCommit(repo, found.commitId)
  return {
    ref: name,
    tag: tag !== undefined,
    protected: isProtected,
    commit,
    beforeSha: undefined,
    comparedTo: undefined,
  }
}
