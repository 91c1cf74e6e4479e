import { FEATURES } from '../../access/features.ts'
import type { ProjectRow } from '../../access/find-queries.ts'
import { type Visibility, visibilityRank } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import { forbidden, invalid, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { getTargetNamespace, type TargetNamespace } from '../../projects/projects/create/access.ts'
import { createProject } from '../../projects/projects/create/create-project.ts'
import { finishFork } from '../../projects/projects/tasks.ts'
import { shareLfsObjects } from '../lfs/objects.ts'
import { findTip } from '../repository/branch-tip.ts'
import { isKeptInside } from './queries.ts'

/** What a fork is to be; absent parts are as in the parent. */
export interface ForkInput {
  readonly namespace?: number | string | undefined
  readonly name?: string | undefined
  readonly path?: string | undefined
  readonly description?: string | undefined
  readonly visibility?: Visibility | undefined
  /** Only this branch, where the caller wants one alone. */
  readonly branch?: string | undefined
  readonly targetSelf?: boolean | undefined
}

/** Settings that a fork takes over from its parent. */
const INHERITED = [
  ...FEATURES.map((feature) => `${feature}_access_level`),
  'ci_config_path',
  'lfs_enabled',
  'repository_object_format',
]

/**
 * Makes a fork: 404 for a hidden target, 403 for one that the caller may put none in, 409 when name or path is taken there
 * (docs/contract/D §1.2).
 */
export async function forkProject(
  ctx: Ctx,
  parent: Project,
  input: ForkInput,
): Promise<ProjectRow> {
  const target = await getTargetNamespace(ctx, input.namespace, forbidden)
  if (await isKeptInside(ctx.db, parent.namespace_id, target.id)) throw forbidden()
  const branch = await chosenBranch(ctx, parent, input.branch)
  const settings = Object.fromEntries(
    Object.entries(parent.settings).filter(([name]) => INHERITED.includes(name)),
  )
  try {
    return await createProject(ctx, {
      name: input.name ?? parent.name,
      path: input.path ?? (input.name === undefined ? parent.path : undefined),
      namespace: target.id,
      description: input.description ?? parent.description,
      visibility: forkVisibility(parent, target, input.visibility),
      defaultBranch: branch ?? parent.default_branch ?? undefined,
      settings: { ...settings, ...(input.targetSelf ? { mr_default_target_self: true } : {}) },
      forkedFromId: parent.id,
      forkedBranch: branch,
      empty: parent.empty_repo === 1,
      importStatus: 'scheduled',
      async onShown(inner, id) {
        await shareLfsObjects(inner, parent.id, id, inner.now())
        await inner.work.enqueue(inner.db, finishFork, { project_id: id })
      },
    })
  } catch (error) {
    throw isTaken(error) ? new Problem('conflict', 409, { message: error.fields }) : error
  }
}

/** The one branch that a fork is to have; undefined for all, 404 for one that is not there. */
async function chosenBranch(
  ctx: Ctx,
  parent: Project,
  branch: string | undefined,
): Promise<string | undefined> {
  if (branch === undefined || branch === '' || parent.empty_repo === 1) return undefined
  if (!(await findTip(ctx.git.open(parent.id), branch))) throw notFound('Branch')
  return branch
}

function isTaken(error: unknown): error is Problem {
  const texts = error instanceof Problem ? Object.values(error.fields ?? {}).flat() : []
  return texts.includes('has already been taken')
}

function forkVisibility(
  parent: Project,
  target: TargetNamespace,
  wanted: Visibility | undefined,
): Visibility {
  if (wanted && visibilityRank[wanted] > visibilityRank[parent.visibility]) {
    const text = `${wanted} is not allowed since the fork source project has lower visibility.`
    throw invalid({ visibility_level: [text] })
  }
  if (wanted) return wanted
  const lower = visibilityRank[target.visibility] < visibilityRank[parent.visibility]
  return target.kind === 'group' && lower ? target.visibility : parent.visibility
}
