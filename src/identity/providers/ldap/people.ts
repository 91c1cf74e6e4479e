import type { Client, Entry } from 'ldapts'
import type { LdapProvider } from '../../../base/providers/ldap.ts'
import type { ProvidedPerson } from '../person.ts'

/** Somebody whom a directory holds. */
export interface DirectoryPerson extends ProvidedPerson {
  readonly dn: string
}

const MOST_GROUPS = 2000
/** More than one of a name is a fault of the directory, and so many say so. */
const MOST_PEOPLE = 10
/** Members of groups that are members, as Active Directory finds them. */
const IN_CHAIN = '1.2.840.113556.1.4.1941'
/** Accounts that are not disabled, as Active Directory marks them. */
const ENABLED = '(!(userAccountControl:1.2.840.113556.1.4.803:=2))'

function attributesOf(provider: LdapProvider) {
  const isAd = provider.active_directory
  return {
    username: provider.username_attribute ?? (isAd ? 'sAMAccountName' : 'uid'),
    id: provider.id_attribute ?? (isAd ? 'objectGUID' : 'entryUUID'),
    email: provider.email_attribute,
    name: provider.name_attribute,
  }
}

/** A GUID is bytes; every other id is a text. */
const isBinary = (id: string) => id.toLowerCase() === 'objectguid'

const library = () => import('ldapts')

/** The one person of this name who may sign in; undefined for nobody, and for several. */
export async function findByUsername(
  client: Client,
  provider: LdapProvider,
  username: string,
): Promise<DirectoryPerson | undefined> {
  return await findOne(client, provider, attributesOf(provider).username, username)
}

/** The same by what the directory calls them for good. */
export async function findByUid(
  client: Client,
  provider: LdapProvider,
  uid: string,
): Promise<DirectoryPerson | undefined> {
  const { id } = attributesOf(provider)
  return await findOne(client, provider, id, isBinary(id) ? Buffer.from(uid, 'hex') : uid)
}

/** What people typed goes into no text of a filter, but as a value into a filter that is built. */
async function findOne(
  client: Client,
  provider: LdapProvider,
  attribute: string,
  value: string | Buffer,
): Promise<DirectoryPerson | undefined> {
  const { AndFilter, EqualityFilter, FilterParser } = await library()
  const attributes = attributesOf(provider)
  const filters = [
    new EqualityFilter({ attribute, value }),
    FilterParser.parseString(provider.filter),
    ...(provider.active_directory ? [FilterParser.parseString(ENABLED)] : []),
  ]
  const { searchEntries } = await client.search(provider.base, {
    scope: 'sub',
    filter: new AndFilter({ filters }),
    attributes: Object.values(attributes),
    ...(isBinary(attributes.id) ? { explicitBufferAttributes: [attributes.id] } : {}),
    sizeLimit: MOST_PEOPLE,
  })
  const [entry, second] = searchEntries
  if (!entry || second) return undefined
  const id = firstOf(entry, attributes.id)
  const uid = Buffer.isBuffer(id) ? id.toString('hex') : id
  const username = textOf(entry, attributes.username)
  if (!uid || username === undefined) return undefined
  return {
    dn: entry.dn,
    uid,
    username,
    name: textOf(entry, attributes.name) ?? username,
    email: textOf(entry, attributes.email),
    isEmailProven: provider.trust_email,
    groups: await groupsOf(client, provider, entry.dn, username),
  }
}

async function groupsOf(
  client: Client,
  provider: LdapProvider,
  dn: string,
  username: string,
): Promise<string[]> {
  const { group_base: base, group_filter: filter, group_name_attribute: name } = provider
  if (base === undefined) return []
  const { AndFilter, EqualityFilter, ExtensibleFilter, FilterParser, OrFilter } = await library()
  const has = (attribute: string, value: string) => new EqualityFilter({ attribute, value })
  const member = provider.active_directory
    ? new ExtensibleFilter({ matchType: 'member', rule: IN_CHAIN, value: dn })
    : new OrFilter({
        filters: [has('member', dn), has('uniqueMember', dn), has('memberUid', username)],
      })
  const { searchEntries } = await client.search(base, {
    scope: 'sub',
    filter: new AndFilter({ filters: [member, FilterParser.parseString(filter)] }),
    attributes: [name],
    paged: { pageSize: 500 },
  })
  return searchEntries.slice(0, MOST_GROUPS).flatMap((entry) => textOf(entry, name) ?? [])
}

function firstOf(entry: Entry, attribute: string): string | Buffer | undefined {
  const key = Object.keys(entry).find((one) => one.toLowerCase() === attribute.toLowerCase())
  const [value] = [key === undefined ? [] : (entry[key] ?? [])].flat()
  return value
}

function textOf(entry: Entry, attribute: string): string | undefined {
  const value = firstOf(entry, attribute)?.toString().trim()
  return value === '' ? undefined : value
}
