import { issueClientToken } from '../../access/authentication/client-token.ts'
import { anyone, onProject, signedIn } from '../../access/subjects.ts'
import { unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { secretIn } from '../../http/credentials/credentials.ts'
import { type Bytes, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { challenging } from '../registry/access.ts'
import { conanRead } from './access.ts'
import { findRecipes } from './search.ts'

const plain = bytes('text/plain')
const json = bytes('application/json')
const TOKEN_SECONDS = 90 * 24 * 3600
const PLACES = [
  ['/projects/:id/packages/conan/v1', 'of a project'],
  ['/projects/:id/packages/conan/v2', 'of a project, for protocol 2'],
  ['/packages/conan/v1', 'of the server'],
] as const

/** Clients compare the content type of JSON with this very text. */
export function asJson(value: unknown): Bytes {
  return { body: JSON.stringify(value), type: 'application/json' }
}

const pong = () => ({
  body: '',
  type: 'text/plain',
  headers: { 'X-Conan-Server-Capabilities': 'revisions' },
})

export const pingConan = endpoint({
  ...conanRead,
  method: 'GET',
  path: '/packages/conan/v1/ping',
  summary: 'Get the capabilities for Conan clients',
  access: anyone(),
  response: plain,
  handler: pong,
})

export const pingProjectConan = endpoint({
  ...conanRead,
  method: 'GET',
  path: '/projects/:id/packages/conan/v1/ping',
  summary: 'Get the capabilities for Conan clients',
  access: anyone(),
  params: { id: text({ max: 400 }) },
  response: plain,
  handler: pong,
})

/** A token that Conan shows from then on; it ends with the secret that it was given for. */
function authenticate({ ctx, request }: { readonly ctx: Ctx; readonly request: RequestFacts }) {
  const secret = secretIn(request.headers)
  if (secret === undefined) throw unauthorized()
  const token = issueClientToken(ctx, secret, { purpose: 'conan', seconds: TOKEN_SECONDS })
  return { body: token, type: 'text/plain' }
}

const ofProject = challenging(onProject('read_packages', { signedIn: true }))
const query = { q: text({ max: 400 }).optional(), ignorecase: flag().optional() }

function signIn(root: string, what: string) {
  const common = { ...conanRead, method: 'GET', response: plain } as const
  const paths = { sign: `${root}/users/authenticate`, check: `${root}/users/check_credentials` }
  const sign = { path: paths.sign, summary: `Sign in to the Conan packages ${what}` }
  const check = { path: paths.check, summary: `Check a token for the Conan packages ${what}` }
  const ok = () => ({ body: 'ok', type: 'text/plain' })
  return root.startsWith('/projects/')
    ? [
        endpoint({ ...common, ...sign, access: ofProject, params: {}, handler: authenticate }),
        endpoint({ ...common, ...check, access: ofProject, params: {}, handler: ok }),
      ]
    : [
        endpoint({ ...common, ...sign, access: signedIn(), params: {}, handler: authenticate }),
        endpoint({ ...common, ...check, access: signedIn(), params: {}, handler: ok }),
      ]
}

export const conanSignIn = PLACES.flatMap(([root, what]) => signIn(root, what))

export const searchConan = ['v1', 'v2'].map((version) =>
  endpoint({
    ...conanRead,
    method: 'GET',
    path: `/projects/:id/packages/conan/${version}/conans/search` as '/projects/:id/search',
    summary: 'Search the Conan recipes of a project',
    access: challenging(onProject('read_packages')),
    query,
    response: json,
    handler: async ({ ctx, project, query }) => asJson(await findRecipes(ctx, project, query)),
  }),
)

export const searchInstanceConan = endpoint({
  ...conanRead,
  method: 'GET',
  path: '/packages/conan/v1/conans/search',
  summary: 'Search the Conan recipes of all projects that one may read',
  access: anyone(),
  query,
  response: json,
  handler: async ({ ctx, query }) => asJson(await findRecipes(ctx, undefined, query)),
})
