/** The reference vendor's word: stock clients of this API compare some strings with it literally (docs/contract/D §0.1). */
const referenceWord = 'gitlab'

export type TokenKind =
  | 'personal'
  | 'runner'
  | 'deploy'
  | 'trigger'
  | 'job'
  | 'feed'
  | 'oauth_secret'
  | 'incoming_mail'
  | 'agent'
  | 'flags'

const tokenMarks: Readonly<Record<TokenKind, string>> = {
  personal: 'pat-',
  runner: 'rt-',
  deploy: 'dt-',
  trigger: 'ptt-',
  job: 'cbt-',
  feed: 'ft-',
  oauth_secret: 'oas-',
  incoming_mail: 'imt-',
  agent: 'agent-',
  flags: 'ffct-',
}

/** Everything that carries the vendor's word. Lists begin with our own form; all forms are accepted and emitted. */
export interface Vendor {
  readonly prefix: string
  /** `X-Svc-File-Name` and the reference vendor's name for it. */
  headerNames(name: string): readonly string[]
  /** The same value under every name of the header. */
  headers(values: Readonly<Record<string, string>>): Record<string, string>
  /** What a request says under any name of the header; the names of `headers` are lower-case, as in node:http. */
  readHeader(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    name: string,
  ): string | undefined
  /** `svcpat-` and its kin. */
  tokenPrefix(kind: TokenKind): string
  /** `.svc-ci.yml`, in the order in which they are looked for. */
  readonly ciFiles: readonly string[]
  /** `.svc`: templates, CODEOWNERS, changelog settings. */
  readonly folders: readonly string[]
  /** User names under which a job token signs in by Basic. */
  readonly jobTokenUsers: readonly string[]
  /** Names of deploy tokens that jobs are given (docs/contract/D §5.6). */
  readonly jobDeployTokens: readonly string[]
  /** The user name that a deploy token gets when none was asked for (docs/contract/A-resolved §8.1). */
  deployTokenUser(id: number): string
  /** `SVC_CI`, `SVC_USER_ID` and so on, from `CI` or `USER_ID`. */
  variableNames(name: string): readonly string[]
  /** `svc-lfs/objects`, below `/:path.git/`. */
  readonly lfsFolders: readonly string[]
  /** `svc_ci_ymls`, below `/templates/`. */
  readonly ciTemplates: readonly string[]
}

/** The words of a vendor prefix, such as the default `svc`. */
export function vendorWords(prefix: string): Vendor {
  const words = [...new Set([prefix, referenceWord])]
  // The reference vendor shortens itself in its tokens, and its runner program looks at that.
  const tokenWord = prefix === referenceWord ? 'gl' : prefix
  const headerNames = (name: string) => words.map((word) => `X-${capital(word)}-${name}`)
  return {
    prefix,
    headerNames,
    headers: (values) =>
      Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) =>
          headerNames(name).map((full) => [full, value]),
        ),
      ),
    readHeader(headers, name) {
      const values = headerNames(name).map((full) => headers[full.toLowerCase()])
      const value = values.find((one) => one !== undefined)
      return typeof value === 'string' ? value : value?.[0]
    },
    tokenPrefix: (kind) => `${tokenWord}${tokenMarks[kind]}`,
    ciFiles: words.map((word) => `.${word}-ci.yml`),
    folders: words.map((word) => `.${word}`),
    jobTokenUsers: words.map((word) => `${word}-ci-token`),
    jobDeployTokens: words.map((word) => `${word}-deploy-token`),
    deployTokenUser: (id) => `${prefix}+deploy-token-${id}`,
    variableNames: (name) => words.map((word) => `${word.toUpperCase()}_${name}`),
    lfsFolders: words.map((word) => `${word}-lfs/objects`),
    ciTemplates: words.map((word) => `${word}_ci_ymls`),
  }
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
