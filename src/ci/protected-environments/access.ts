import { eitherRecord } from '../../access/records.ts'
import { text } from '../../http/params.ts'
import { getEnvironment } from './verbs.ts'

/** The protected environment of this name, or of a group a tier of them. */
export const onProtectedEnvironment = eitherRecord('read_protections', {
  params: { name: text({ max: 255 }) },
  find: async ({ ctx, source, params: { name } }) => ({
    environment: await getEnvironment(ctx, source, name),
  }),
  updatedAt: ({ environment }) => environment.updated_at,
})
