import { eitherRecord } from '../../access/records.ts'
import { onEither } from '../../access/sources.ts'
import { existing, forbidden } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { findDeployToken } from './queries.ts'

/** In projects seeing them takes as much as changing them (docs/contract/A §Deploy token). */
const read = { projects: 'admin_deploy_tokens', groups: 'read_deploy_tokens' } as const

/** Parameters are looked at first, and anonymous callers get 403 (docs/contract/A-resolved §1). */
export const deployTokensOrder = { validateFirst: true, refuse: () => forbidden() } as const

/** The project or group whose deploy tokens are seen. */
export const onDeployTokens = () => onEither(read, deployTokensOrder)

const token = eitherRecord(read, {
  params: { token_id: id() },
  async find({ ctx, source, params }) {
    const token = existing(await findDeployToken(ctx.db, source, params.token_id))
    return { token }
  },
})

export const onDeployToken = (ability: typeof read | 'admin_deploy_tokens' = read) =>
  token(ability, deployTokensOrder)
