import type { Group, Project } from '../../access/subjects.ts'
import { fault, filledText, flag, list, oneOfNumbers, parameter, text } from '../../http/params.ts'
import type { Owner } from './admit.ts'
import { ANY_LEVEL, levelWish, SOME_LEVEL } from './levels.ts'

export function ownerOf(subject: { project: Project } | { group: Group }): Owner {
  if ('group' in subject) return { kind: 'group', id: subject.group.id }
  return { kind: 'project', id: subject.project.id, namespaceId: subject.project.namespace_id }
}

/** A flag that must be said if it is sent. */
const saidFlag = parameter<boolean>({ type: 'boolean' }, (raw) => {
  if (raw === null || raw === '') return fault.says('is empty')
  const read = flag().safeParse(raw)
  return read.success ? read.data : fault.invalid
})

const most = { max: 500 }

export const levelLists = {
  allowed_to_push: list(levelWish(ANY_LEVEL), most).optional(),
  allowed_to_merge: list(levelWish(ANY_LEVEL), most).optional(),
  allowed_to_unprotect: list(levelWish(SOME_LEVEL), most).optional(),
}

export const listQuery = { search: text({ max: 255 }).optional() }

export const createBranchBody = {
  name: filledText({ max: 255 }),
  push_access_level: oneOfNumbers(ANY_LEVEL).optional(),
  merge_access_level: oneOfNumbers(ANY_LEVEL).optional(),
  unprotect_access_level: oneOfNumbers(SOME_LEVEL).optional(),
  allow_force_push: flag().optional(),
  code_owner_approval_required: flag().optional(),
  ...levelLists,
}

export const changeBranchBody = {
  allow_force_push: saidFlag.optional(),
  code_owner_approval_required: flag().optional(),
  ...levelLists,
}
