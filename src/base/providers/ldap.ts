import { z } from 'zod'
import { commonFields } from './provider.ts'

const text = z.string().min(1).max(2000)
/** Attributes stand in filters: nothing else may. */
const attribute = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, 'expected the name of an attribute')

/** A directory (LDAP), or a domain of Active Directory. */
export const ldapFields = z
  .strictObject({
    ...commonFields,
    url: z.url({ protocol: /^ldaps?$/, error: 'expected a URL with ldap: or ldaps:' }),
    /** With `ldap:` the connection is encrypted all the same, unless this says that it need not be. */
    start_tls: z.boolean().default(true),
    /** PEM file of the authorities that sign the directory's certificate; those of the system without it. */
    ca_file: text.optional(),
    /** Who looks people up; nobody in particular without it. */
    bind_dn: text.optional(),
    bind_password: text.optional(),
    base: text,
    /** What else somebody must be to sign in, as LDAP writes filters. */
    filter: text.default('(objectClass=*)'),
    active_directory: z.boolean().default(false),
    username_attribute: attribute.optional(),
    id_attribute: attribute.optional(),
    email_attribute: attribute.default('mail'),
    name_attribute: attribute.default('cn'),
    group_base: text.optional(),
    group_filter: text.default('(objectClass=*)'),
    group_name_attribute: attribute.default('cn'),
    trust_email: z.boolean().default(true),
    /** Whether git over HTTP takes the passwords of the directory. */
    git: z.boolean().default(true),
  })
  .refine(
    (one) => (one.bind_dn === undefined) === (one.bind_password === undefined),
    'bind_dn and bind_password belong together',
  )

export type LdapProvider = Readonly<z.output<typeof ldapFields>>
