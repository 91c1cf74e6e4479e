import { audit } from '../../access/audit.ts'
import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteRequestRules, listOverwritten } from './rule-queries.ts'
import { projectApprovalSettings, settingNames } from './settings.ts'
import { type SettingChanges, saveSettings } from './settings-queries.ts'

/** Changes how a project wants approvals; what its group has locked is dropped (docs/contract/B-resolved §8.1). */
export async function changeProjectSettings(
  ctx: Ctx,
  project: Project,
  asked: SettingChanges,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const changes = await settingsToSave(ctx, project, asked)
    await saveSettings(ctx.db, 'project', project.id, changes, ctx.now())
    await audit(ctx, {
      entity: { type: 'Project', id: project.id },
      action: 'approval_settings_changed',
      details: { changed: Object.keys(changes).join(', ') },
    })
    if (changes.disable_overriding_approvers_per_merge_request) {
      // Its open merge requests go back to the project's rules.
      await deleteRequestRules(ctx.db, await listOverwritten(ctx.db, project.id))
      await runEffects(ctx, ctx.effects.requestRulesForgotten, { projectId: project.id })
    }
  })
}

async function settingsToSave(
  ctx: Ctx,
  project: Project,
  asked: SettingChanges,
): Promise<SettingChanges> {
  const held = await projectApprovalSettings(ctx, project)
  const changes = Object.fromEntries(
    settingNames.flatMap((name) =>
      asked[name] === undefined || held[name].locked ? [] : [[name, asked[name]]],
    ),
  ) as SettingChanges // the same names
  const after = (name: 'reset_approvals_on_push' | 'selective_code_owner_removals') =>
    changes[name] ?? held[name].value
  if (after('selective_code_owner_removals') && after('reset_approvals_on_push')) {
    throw invalid({
      selective_code_owner_removals: ["can't be set together with reset_approvals_on_push"],
    })
  }
  return changes
}
