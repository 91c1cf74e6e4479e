import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { badRequest, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  deleteEntriesOf,
  findRegistry,
  findUpstream,
  insertLink,
  insertUpstream,
  listLinks,
  listUpstreamsAt,
  type RegistryRow,
  type UpstreamRow,
  updateUpstream,
} from './queries.ts'

const PURPOSE = 'virtual_registry.password'
const CENTRAL = 'repo1.maven.org/maven2'
const DAY_HOURS = 24
const MOST_UPSTREAMS = 20

/** What callers say of an upstream. */
export interface UpstreamInput {
  readonly url?: string | undefined
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly cache_validity_hours?: number | undefined
  readonly metadata_cache_validity_hours?: number | undefined
}

/** Where an upstream is and as whom to ask there. */
export interface UpstreamAddress {
  readonly url: string
  readonly username: string | null
  readonly password: string | null
}

/** An address as it is kept: without a slash at its end, the port of its scheme, and `.git`. */
export async function readUrl(ctx: Pick<Ctx, 'outbound'>, text: string): Promise<string> {
  const isAddress = text.length <= 255 && /^https?:\/\//i.test(text) && URL.canParse(text)
  if (!isAddress) throw invalid({ url: ['is invalid'] })
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw invalid({ url: ['is invalid'] })
  }
  try {
    await ctx.outbound.assertMayAsk(url)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw invalid({ url: [`is blocked: ${error.message}`] })
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\.git$/, '')
}

/** Both empty are none, as forms say it. */
export function credentialsIn(input: Pick<UpstreamInput, 'username' | 'password'>) {
  const { username = '', password = '' } = input
  return username === '' && password === ''
    ? { username: null, password: null }
    : { username, password }
}

export function assertPair(input: Pick<UpstreamInput, 'username' | 'password'>): void {
  if ((input.username === undefined) !== (input.password === undefined)) {
    throw badRequest('username, password are missing, all or none of them must be provided')
  }
}

/** The address that requests use; the password is opened for them alone. */
export function addressOf(ctx: Pick<Ctx, 'vault'>, row: UpstreamRow): UpstreamAddress {
  const { url, username, sealed_password: sealed } = row
  return { url, username, password: sealed === null ? null : ctx.vault.open(sealed, PURPOSE) }
}

/** A registry may go while the address of an upstream is looked up. */
async function assertThere(ctx: Pick<Ctx, 'db'>, registryId: number): Promise<void> {
  if (!(await findRegistry(ctx.db, registryId))) throw notFound('Registry')
}

/** Call it in the transaction that writes: of two who bring the same upstream at once, one is refused. */
async function assertUnique(
  ctx: Ctx,
  groupId: number,
  address: UpstreamAddress,
  except?: number,
): Promise<void> {
  const rows = await listUpstreamsAt(ctx.db, groupId, address.url.replace(/^https?:\/\//, ''))
  const isTaken = rows
    .filter((row) => row.id !== except)
    .map((row) => addressOf(ctx, row))
    .some((one) => one.username === address.username && one.password === address.password)
  if (isTaken) {
    throw invalid({ group: ['already has a remote upstream with the same url and credentials'] })
  }
}

/** Adds an upstream at the end of a registry. */
export async function createUpstream(
  ctx: Ctx,
  registry: RegistryRow,
  input: UpstreamInput & { readonly url: string },
) {
  assertPair(input)
  const url = await readUrl(ctx, input.url)
  const { username, password } = credentialsIn(input)
  const isCentral = url.replace(/^https?:\/\//, '') === CENTRAL
  return await inTransaction(ctx, async (inner) => {
    await assertThere(inner, registry.id)
    await assertUnique(inner, registry.group_id, { url, username, password })
    await assertRoom(inner, registry.id)
    const now = inner.now()
    const upstream = await insertUpstream(inner.db, {
      group_id: registry.group_id,
      url,
      name: input.name ?? new URL(url).host,
      description: input.description ?? null,
      username,
      sealed_password: password === null ? null : inner.vault.seal(password, PURPOSE),
      cache_validity_hours: isCentral ? 0 : (input.cache_validity_hours ?? DAY_HOURS),
      metadata_cache_validity_hours: input.metadata_cache_validity_hours ?? DAY_HOURS,
      created_at: now,
      updated_at: now,
    })
    return { upstream, link: await insertLink(inner.db, registry.id, upstream.id) }
  })
}

/** Refuses an upstream more than a registry may have. */
export async function assertRoom(ctx: Pick<Ctx, 'db'>, registryId: number): Promise<void> {
  if ((await listLinks(ctx.db, registryId)).length >= MOST_UPSTREAMS) {
    throw invalid({ position: ['must be less than or equal to 20'] })
  }
}

/**
 * Changes an upstream. Another address forgets the credentials, unless they come with it, and what was fetched from the
 * old one.
 */
export async function changeUpstream(ctx: Ctx, id: number, input: UpstreamInput): Promise<void> {
  const given = input.url === undefined ? undefined : await readUrl(ctx, input.url)
  await inTransaction(ctx, async (inner) => {
    // Read inside: another change may have come meanwhile, and must not be undone.
    const upstream = await findUpstream(inner.db, id)
    if (!upstream) throw notFound('Upstream')
    await saveChange(inner, upstream, { ...input, url: given })
  })
}

async function saveChange(ctx: Ctx, upstream: UpstreamRow, input: UpstreamInput): Promise<void> {
  const known = addressOf(ctx, upstream)
  const { url = upstream.url } = input
  const address = { url, ...credentialsOf(known, input, url !== upstream.url) }
  await assertUnique(ctx, upstream.group_id, address, upstream.id)
  if (url !== upstream.url) await deleteEntriesOf(ctx.db, [upstream.id])
  const { name, description, cache_validity_hours, metadata_cache_validity_hours } = input
  await updateUpstream(ctx.db, upstream.id, {
    url,
    username: address.username,
    sealed_password: address.password === null ? null : ctx.vault.seal(address.password, PURPOSE),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(cache_validity_hours === undefined ? {} : { cache_validity_hours }),
    ...(metadata_cache_validity_hours === undefined ? {} : { metadata_cache_validity_hours }),
    updated_at: ctx.now(),
  })
}

function credentialsOf(known: UpstreamAddress, input: UpstreamInput, hasMoved: boolean) {
  const { username, password } = input
  if (username === undefined && password === undefined) {
    return hasMoved ? { username: null, password: null } : known
  }
  if (username === '' && (password ?? '') === '') return { username: null, password: null }
  // The same name with an empty password keeps the password.
  const isSame = !hasMoved && username === known.username
  if (isSame && (password ?? '') === '') return known
  assertPair(input)
  return { username: username ?? null, password: password ?? null }
}
