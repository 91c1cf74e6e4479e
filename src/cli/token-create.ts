import { ADMIN_ONLY_SCOPES, PERSONAL_SCOPES } from '../access/scopes.ts'
import { badRequest } from '../base/problem.ts'
import {
  createToken,
  faultSentence,
  refuseBadToken,
} from '../identity/access-tokens/create-token.ts'
import { command, UsageError } from './command.ts'
import { namedUser } from './find-user.ts'
import { withData } from './open.ts'

const known: readonly string[] = [...PERSONAL_SCOPES, ...ADMIN_ONLY_SCOPES]

export const tokenCreate = command({
  name: 'token create',
  summary: 'Create a personal access token and show it once',
  args: ['username'],
  options: {
    name: { type: 'string', doc: "Name of the token; otherwise 'command line'" },
    scopes: { type: 'string', value: '<list>', doc: 'Scopes with commas between; otherwise api' },
    'expires-at': {
      type: 'string',
      value: '<YYYY-MM-DD>',
      doc: 'Day on which it expires; otherwise as late as the settings allow',
    },
  },
  async run(call) {
    const [username = ''] = call.args
    const { name = 'command line', scopes = 'api', 'expires-at': expiresAt } = call.options
    const input = { name, scopes: readScopes(scopes), expires_at: readDay(expiresAt) }
    const { row, secret } = await withData(call, async (ctx) => {
      const user = await namedUser(ctx, username)
      refuseBadToken(ctx, input, user, (faults) => badRequest(faultSentence(faults)))
      return await createToken(ctx, input, { kind: 'personal', userId: user.id })
    })
    return {
      lines: [secret],
      data: {
        id: row.id,
        name: row.name,
        username,
        scopes: input.scopes,
        expires_at: row.expires_at,
        token: secret,
      },
    }
  },
})

function readScopes(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  const stranger = scopes.find((scope) => !known.includes(scope))
  if (stranger === undefined) return scopes
  throw new UsageError(`'${stranger}' is no scope, there are ${known.join(', ')}`)
}

function readDay(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  // The 31st of February is one of March to the parser.
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  const valid = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
  if (!valid) throw new UsageError('--expires-at is a day such as 2027-01-31')
  return text
}
