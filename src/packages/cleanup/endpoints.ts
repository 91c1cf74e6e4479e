import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { later } from '../../base/clock.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fault, oneOf, parameter } from '../../http/params.ts'
import { findPolicy, savePolicy } from './queries.ts'
import { EVERY_MS } from './run.ts'

const KEPT = ['all', '1', '10', '20', '30', '40', '50'] as const

const policyEntity = z.strictObject({
  keep_n_duplicated_package_files: z.enum(KEPT),
  next_run_at: z.string().nullable(),
})

/** `all`, or a number as text or number. */
const keep = parameter({ type: 'string', enum: KEPT }, (raw) => {
  const read = oneOf(KEPT).safeParse(typeof raw === 'number' ? String(raw) : raw)
  return read.success ? read.data : fault.notAllowed
})

export const getCleanupPolicy = endpoint({
  method: 'GET',
  path: '/projects/:id/packages/cleanup/policy',
  summary: 'Get how many files of the same name the packages of a project keep',
  access: onProject('read_package_rules', { signedIn: true }),
  response: policyEntity,
  async handler({ ctx, project }) {
    const row = await findPolicy(ctx.db, project.id)
    return present(row)
  },
})

export const putCleanupPolicy = endpoint({
  method: 'PUT',
  path: '/projects/:id/packages/cleanup/policy',
  summary: 'Set how many files of the same name the packages of a project keep',
  access: onProject('admin_package_rules', { signedIn: true }),
  body: { keep_n_duplicated_package_files: keep },
  response: policyEntity,
  async handler({ ctx, project, body: { keep_n_duplicated_package_files } }) {
    const isOff = keep_n_duplicated_package_files === 'all'
    const next_run_at = isOff ? null : later(ctx.now(), EVERY_MS)
    const row = { project_id: project.id, keep_n_duplicated_package_files, next_run_at }
    await savePolicy(ctx.db, row)
    return present(row)
  },
})

function present(
  row: { keep_n_duplicated_package_files: string; next_run_at: string | null } | undefined,
): z.input<typeof policyEntity> {
  const kept = KEPT.find((one) => one === row?.keep_n_duplicated_package_files)
  return { keep_n_duplicated_package_files: kept ?? 'all', next_run_at: row?.next_run_at ?? null }
}
