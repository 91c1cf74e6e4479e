import { oneOf, text } from '../../http/params.ts'

/** What creation and update of a service account take alike. */
export const accountBody = {
  name: text({ max: 1000 }).optional(),
  username: text({ max: 1000 }).optional(),
  email: text({ max: 1000 }).optional(),
}

export const accountOrder = {
  order_by: oneOf(['id', 'username']).default('id'),
  sort: oneOf(['asc', 'desc']).default('desc'),
}

export const accountPages = {
  keyset: ['id', 'username'],
  defaultSort: 'desc',
  offset: true,
} as const
