import { visibilityRank } from '../../access/roles.ts'
import { getVisibleProject } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { invalidText, type Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { brokenKey } from '../../store/unique.ts'
import { keepOwner } from '../members/keep-owner.ts'
import { getTargetNamespace } from './create/access.ts'
import { updateProjectRow } from './queries.ts'
import { auditProject } from './record.ts'

function refused(reason: string): Problem {
  return invalidText(`Failed to transfer project ${reason}`)
}

/**
 * Moves a project to another namespace, where the caller must be allowed to create projects. Its old path redirects; it
 * becomes no more visible than its new group.
 */
export async function transferProject(
  ctx: Ctx,
  projectId: number,
  namespace: number | string,
): Promise<void> {
  try {
    await inTransaction(ctx, async (ctx) => {
      // Read inside: either may have been moved or renamed a moment ago.
      const project = await getVisibleProject(ctx, String(projectId))
      const target = await getTargetNamespace(ctx, namespace)
      if (target.id === project.namespace_id) throw refused('Project is already in this namespace.')
      const hides =
        target.kind === 'group' &&
        visibilityRank[project.visibility] > visibilityRank[target.visibility]
      await updateProjectRow(ctx.db, project.id, {
        namespace_id: target.id,
        full_path: `${target.fullPath}/${project.path}`,
        updated_at: ctx.now(),
        ...(hides ? { visibility: target.visibility } : {}),
        ...(target.sharedRunners === 'disabled_and_unoverridable'
          ? { settings: JSON.stringify({ ...project.settings, shared_runners_enabled: false }) }
          : {}),
      })
      await auditProject(ctx, project.id, 'project_transferred', {
        from: project.full_path,
        to: `${target.fullPath}/${project.path}`,
      })
      const moved = { id: project.id, change: 'transfer', oldPath: project.full_path } as const
      await runEffects(ctx, ctx.effects.projectChanged, moved)
      if (target.ownerId !== null) {
        const source = { type: 'project', id: project.id } as const
        await keepOwner(ctx, source, target.ownerId)
      }
    })
  } catch (error) {
    if (brokenKey(error) === undefined) throw error
    throw refused('Project with same name or path in target namespace already exists')
  }
}
