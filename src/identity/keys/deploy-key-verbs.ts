import { audit } from '../../access/audit.ts'
import { existing, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { type KeyInput, readKey, saveKey, titleFaults } from './add-key.ts'
import {
  type DeployKeyRow,
  deleteKeyProject,
  findKeyByFingerprint,
  findProjectKey,
  insertKeyProject,
  type SshKeyRow,
  updateKey,
  updateKeyProject,
} from './queries.ts'

async function getProjectKey(ctx: Ctx, projectId: number, keyId: number): Promise<DeployKeyRow> {
  return existing(await findProjectKey(ctx.db, projectId, keyId), 'Deploy Key')
}

/** Adds a deploy key to a project; one that is there already is linked instead (docs/contract/D §1.22). */
export async function addDeployKey(
  ctx: Ctx,
  projectId: number,
  input: KeyInput & { readonly can_push?: boolean | undefined },
): Promise<DeployKeyRow> {
  const key = readKey(ctx, input)
  return inTransaction(ctx, async (inner) => {
    const known = await findKeyByFingerprint(inner.db, 'fingerprint_sha256', key.fingerprintSha256)
    const row = known ?? (await saveKey(inner, key, input, { deploy: true }))
    await link(inner, projectId, row.id, input.can_push ?? false)
    await auditKey(inner, projectId, 'deploy_key_added', row)
    return getProjectKey(inner, projectId, row.id)
  })
}

async function link(ctx: Ctx, projectId: number, keyId: number, canPush: boolean): Promise<void> {
  const problems = {
    'deploy_key_projects.project_id, deploy_key_projects.key_id': () =>
      invalid({ deploy_key_id: ['already exists in source'] }),
  }
  const row = {
    key_id: keyId,
    project_id: projectId,
    can_push: canPush ? (1 as const) : (0 as const),
  }
  await uniquely(problems, () => insertKeyProject(ctx.db, row, ctx.now()))
}

/** Links a deploy key that exists already. */
export async function enableDeployKey(
  ctx: Ctx,
  projectId: number,
  key: SshKeyRow,
): Promise<DeployKeyRow> {
  return inTransaction(ctx, async (inner) => {
    if (!(await findProjectKey(inner.db, projectId, key.id))) {
      await link(inner, projectId, key.id, false)
      await auditKey(inner, projectId, 'deploy_key_added', key)
    }
    return getProjectKey(inner, projectId, key.id)
  })
}

/** Changes the title, which all projects of the key share, or whether this project lets it push. */
export async function changeDeployKey(
  ctx: Ctx,
  projectId: number,
  keyId: number,
  changes: { readonly title?: string | undefined; readonly can_push?: boolean | undefined },
): Promise<DeployKeyRow> {
  return inTransaction(ctx, async (inner) => {
    const row = await getProjectKey(inner, projectId, keyId)
    const { title, can_push } = changes
    if (title !== undefined && title !== row.title) {
      const faults = titleFaults(title)
      if (Object.keys(faults).length > 0) throw invalid(faults)
      await updateKey(inner.db, keyId, { title })
    }
    if (can_push !== undefined) {
      await updateKeyProject(inner.db, { keyId, projectId }, can_push, inner.now())
    }
    await auditKey(inner, projectId, 'deploy_key_changed', row)
    return getProjectKey(inner, projectId, keyId)
  })
}

/** Takes a deploy key from a project; the store removes a private one that no project has any more. */
export async function removeDeployKey(ctx: Ctx, projectId: number, keyId: number): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    const row = await getProjectKey(inner, projectId, keyId)
    await deleteKeyProject(inner.db, keyId, projectId)
    await auditKey(inner, projectId, 'deploy_key_removed', row)
  })
}

/** Makes a deploy key that any project may link. */
export async function createInstanceDeployKey(ctx: Ctx, input: KeyInput): Promise<SshKeyRow> {
  const key = readKey(ctx, input)
  return inTransaction(ctx, async (inner) => {
    const row = await saveKey(inner, key, input, { deploy: true, public: true })
    await audit(inner, {
      entity: { type: 'Instance', id: 1 },
      action: 'deploy_key_created',
      details: { key_id: row.id, title: row.title, fingerprint: row.fingerprint_sha256 },
    })
    return row
  })
}

async function auditKey(
  ctx: Ctx,
  projectId: number,
  action: string,
  row: SshKeyRow,
): Promise<void> {
  await audit(ctx, {
    entity: { type: 'Project', id: projectId },
    action,
    details: { key_id: row.id, title: row.title, fingerprint: row.fingerprint_sha256 },
  })
}
