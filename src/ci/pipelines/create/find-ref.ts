import type { Project } from '../../../access/subjects.ts'
import { forbidden } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCommit } from '../../../git/objects/commit.ts'
import { resolveRevision } from '../../../git/objects/revision.ts'
import {
  branchStates,
  passesTagProtection,
  tagProtection,
} from '../../../repositories/refs/branch-state.ts'
import { mayMergeBranch } from '../../../repositories/refs/check-rules.ts'
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

/** Whether the caller may run and change what runs on a ref: protected ones take push or merge right (docs/contract/D §2.2). */
export async function mayRunOn(
  ctx: Ctx,
  project: Project,
  at: { readonly ref: string; readonly tag: boolean },
): Promise<boolean> {
  if (at.tag) return await passesTagProtection(ctx, project, at.ref)
  const state = (await branchStates(ctx, project))(at.ref)
  return !state.protected || state.canPush || (await mayMergeBranch(ctx, project, at.ref))
}

/** As `mayRunOn`, or 403. */
export async function assertMayRunOn(
  ctx: Ctx,
  project: Project,
  at: { readonly ref: string; readonly tag: boolean },
): Promise<void> {
  if (!(await mayRunOn(ctx, project, at))) throw forbidden()
}
