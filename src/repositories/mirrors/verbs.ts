import { audit } from '../../access/audit.ts'
import type { Project } from '../../access/subjects.ts'
import { assertPatterns } from '../../base/patterns/check.ts'
import { existing, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { assertImportable } from '../../projects/projects/create/import-url.ts'
import { inTransaction } from '../../store/transaction.ts'
import { maskedAddress, sealAddress } from './address.ts'
import { enqueuePush } from './push-task.ts'
import {
  countRemoteMirrors,
  deleteRemoteMirror,
  insertRemoteMirror,
  type RemoteMirrorRow,
  updateRemoteMirror,
} from './queries.ts'

/** Each push to a project becomes a push to each of them. */
const mostMirrors = 10

interface MirrorInput {
  readonly enabled?: boolean | undefined
  readonly only_protected_branches?: boolean | undefined
  readonly keep_divergent_refs?: boolean | undefined
  readonly mirror_branch_regex?: string | null | undefined
}

/** Which branches go is said in one way: the later word counts. */
function valuesOf(input: MirrorInput) {
  const { mirror_branch_regex: regex, only_protected_branches: onlyProtected } = input
  return {
    enabled: input.enabled,
    keep_divergent_refs: input.keep_divergent_refs,
    only_protected_branches: regex ? false : onlyProtected,
    mirror_branch_regex: onlyProtected ? null : regex === '' ? null : regex,
  }
}

/** Adds a server that the project is pushed to; one that is enabled is pushed to at once. */
export async function createRemoteMirror(
  ctx: Ctx,
  project: Project,
  { url, ...input }: MirrorInput & { readonly url: string },
): Promise<RemoteMirrorRow> {
  assertPatterns({ mirror_branch_regex: input.mirror_branch_regex })
  await assertImportable(ctx, url, 'url')
  return await inTransaction(ctx, async (ctx) => {
    if ((await countRemoteMirrors(ctx.db, project.id)) >= mostMirrors) {
      throw invalid({ base: [`Maximum number of remote mirrors (${mostMirrors}) exceeded`] })
    }
    const row = await insertRemoteMirror(ctx.db, {
      project_id: project.id,
      ...valuesOf(input),
      sealed_url: sealAddress(ctx, 'push', url),
      created_at: ctx.now(),
      updated_at: ctx.now(),
    })
    await note(ctx, project, 'remote_mirror_created', { url: maskedAddress(url) })
    if (row.enabled === 1) await enqueuePush(ctx, row)
    return row
  })
}

/** Changes what is pushed; where it goes stays, for nobody is shown the password that goes with it. */
export async function changeRemoteMirror(
  ctx: Ctx,
  project: Project,
  { id }: RemoteMirrorRow,
  input: MirrorInput,
): Promise<RemoteMirrorRow> {
  assertPatterns({ mirror_branch_regex: input.mirror_branch_regex })
  return await inTransaction(ctx, async (ctx) => {
    const changes = { ...valuesOf(input), updated_at: ctx.now() }
    const row = existing(await updateRemoteMirror(ctx.db, id, changes))
    await note(ctx, project, 'remote_mirror_changed', { id })
    if (row.enabled === 1) await enqueuePush(ctx, row)
    return row
  })
}

export async function removeRemoteMirror(
  ctx: Ctx,
  project: Project,
  { id }: RemoteMirrorRow,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteRemoteMirror(ctx.db, id)
    await note(ctx, project, 'remote_mirror_deleted', { id })
  })
}

async function note(
  ctx: Ctx,
  project: Project,
  action: string,
  details: Readonly<Record<string, string | number>>,
): Promise<void> {
  await audit(ctx, { entity: { type: 'Project', id: project.id }, action, details })
}
