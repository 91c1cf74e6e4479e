import { groupRecord } from '../../../access/records.ts'
import { badRequest } from '../../../base/problem.ts'
import { membersOrder } from '../access.ts'

/** A top-level group, for its owners; everybody else gets 400, not 403 (docs/contract/A-resolved §9). */
export function onTopGroup(words?: { readonly subgroup: string; readonly others: string }) {
  const top = groupRecord('read_group', {
    params: {},
    async find({ group }) {
      if (group.parent_id !== null) throw badRequest(words?.subgroup)
      return {}
    },
  })
  return top('admin_members', { ...membersOrder, refuse: () => badRequest(words?.others) })
}
