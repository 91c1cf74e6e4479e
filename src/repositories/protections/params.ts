import { fault, filledText, flag, list, oneOfNumbers, parameter, text } from '../../http/params.ts'
import { ANY_LEVEL, levelInput, SOME_LEVEL } from './levels.ts'

/** A flag that must be said if it is sent. */
const saidFlag = parameter<boolean>({ type: 'boolean' }, (raw) => {
  if (raw === null || raw === '') return fault.says('is empty')
  const read = flag().safeParse(raw)
  return read.success ? read.data : fault.invalid
})

const most = { max: 500 }

const levelLists = {
  allowed_to_push: list(levelInput(ANY_LEVEL), most).optional(),
  allowed_to_merge: list(levelInput(ANY_LEVEL), most).optional(),
  allowed_to_unprotect: list(levelInput(SOME_LEVEL), most).optional(),
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
