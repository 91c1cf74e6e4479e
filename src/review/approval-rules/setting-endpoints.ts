import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { onGroup, onProject } from '../../access/subjects.ts'
import { recordOf } from '../../base/group-by.ts'
import { notFound } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { changeProjectSettings } from './change-settings.ts'
import {
  type ApprovalSettings,
  groupApprovalSettings,
  projectApprovalSettings,
} from './settings.ts'
import { type SettingChanges, type SettingName, saveSettings } from './settings-queries.ts'

/** The names of this resource, the stored setting behind each, and whether it says the contrary. */
const names = {
  allow_author_approval: ['merge_requests_author_approval', false],
  allow_committer_approval: ['merge_requests_disable_committers_approval', true],
  allow_overrides_to_approver_list_per_merge_request: [
    'disable_overriding_approvers_per_merge_request',
    true,
  ],
  retain_approvals_on_push: ['reset_approvals_on_push', true],
  selective_code_owner_removals: ['selective_code_owner_removals', false],
  require_password_to_approve: ['require_reauthentication_to_approve', false],
  require_reauthentication_to_approve: ['require_reauthentication_to_approve', false],
} as const satisfies Record<string, readonly [SettingName, boolean]>

type Name = keyof typeof names
const keys = Object.keys(names) as Name[]

const held = z.strictObject({
  value: z.boolean(),
  locked: z.boolean(),
  inherited_from: z.string().nullable(),
})
const entity = z.strictObject(recordOf(keys, () => held))
const body = recordOf(keys, () => flag().optional())

function present(settings: ApprovalSettings): z.input<typeof entity> {
  return recordOf(keys, (name) => {
    const [stored, contrary] = names[name]
    const { value, locked } = settings[stored]
    return { value: value !== contrary, locked, inherited_from: locked ? 'group' : null }
  })
}

function read(asked: Partial<Record<Name, boolean | undefined>>): SettingChanges {
  const changes: Partial<Record<SettingName, boolean>> = {}
  for (const name of keys) {
    const value = asked[name]
    const [stored, contrary] = names[name]
    if (value !== undefined) changes[stored] = value !== contrary
  }
  return changes
}

export const getProjectApprovalSetting = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_request_approval_setting',
  summary: 'Get the approval settings of a project, and which its group has locked',
  access: onProject('admin_approval_rules', { signedIn: true }),
  response: entity,
  handler: async ({ ctx, project }) => present(await projectApprovalSettings(ctx, project)),
})

export const updateProjectApprovalSetting = endpoint({
  method: 'PUT',
  path: '/projects/:id/merge_request_approval_setting',
  summary: 'Change the approval settings of a project',
  access: onProject('admin_approval_rules', { signedIn: true }),
  body,
  response: entity,
  async handler({ ctx, project, body }) {
    await changeProjectSettings(ctx, project, read(body))
    return present(await projectApprovalSettings(ctx, project))
  },
})

/** Only the topmost group has these settings (docs/contract/B-resolved §8.1). */
function assertTop(group: { readonly parent_id: number | null }): void {
  if (group.parent_id !== null) throw notFound()
}

export const getGroupApprovalSetting = endpoint({
  method: 'GET',
  path: '/groups/:id/merge_request_approval_setting',
  summary: 'Get the approval settings of a topmost group',
  access: onGroup('admin_group', { signedIn: true }),
  response: entity,
  async handler({ ctx, group }) {
    assertTop(group)
    return present(await groupApprovalSettings(ctx, group.id))
  },
})

export const updateGroupApprovalSetting = endpoint({
  method: 'PUT',
  path: '/groups/:id/merge_request_approval_setting',
  summary: 'Change the approval settings of a topmost group',
  access: onGroup('admin_group', { signedIn: true }),
  body,
  response: entity,
  async handler({ ctx, group, body }) {
    assertTop(group)
    const changes = read(body)
    await inTransaction(ctx, async (ctx) => {
      await saveSettings(ctx.db, 'group', group.id, changes, ctx.now())
      await audit(ctx, {
        entity: { type: 'Group', id: group.id },
        action: 'approval_settings_changed',
        details: { changed: Object.keys(changes).join(', ') },
      })
    })
    return present(await groupApprovalSettings(ctx, group.id))
  },
})
