import { z } from 'zod'
import { badParameters } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import {
  fault,
  file,
  flag,
  instant,
  integer,
  parameter,
  text,
  type UploadedFile,
} from '../../http/params.ts'
import { storeAvatar } from './avatar/avatar.ts'
import type { UserColumns } from './create/create-user.ts'
import type { UserSettings } from './profile/profile.ts'

const shortText = () => text({ max: 5000 }).nullish()

const upload = file()

/** An image of a form; the empty text, or null, takes the avatar away. */
export const avatarParam: z.ZodType<UploadedFile | null> = parameter(
  { type: 'string', format: 'binary' },
  (raw) => {
    if (raw === '' || raw === null) return null
    const read = upload.safeParse(raw)
    return read.success ? read.data : fault.invalid
  },
)

/** What administrators may say of a user (docs/contract/D §1.1). */
export const userFields = {
  admin: flag().optional(),
  auditor: flag().optional(),
  external: flag().optional(),
  projects_limit: integer({ min: 0 }).optional(),
  can_create_group: flag().optional(),
  private_profile: flag().optional(),
  public_email: shortText(),
  commit_email: shortText(),
  bio: shortText(),
  location: shortText(),
  website_url: shortText(),
  organization: shortText(),
  job_title: shortText(),
  pronouns: shortText(),
  note: shortText(),
  avatar: avatarParam.optional(),
  linkedin: shortText(),
  twitter: shortText(),
  discord: shortText(),
  github: shortText(),
  theme_id: integer({ min: 1, max: 11 }).optional(),
  color_scheme_id: integer({ min: 1, max: 6 }).optional(),
  view_diffs_file_by_file: flag().optional(),
  provider: text({ max: 255 }).optional(),
  extern_uid: text({ max: 255 }).optional(),
  password_expires_at: instant().nullish(),
} as const

const fieldsObject = z.object(userFields)
type UserFields = z.infer<typeof fieldsObject>

/** `provider` and `extern_uid` say who the user is elsewhere, so neither is of use alone. */
export function identityOf(body: Pick<UserFields, 'provider' | 'extern_uid'>) {
  const { provider, extern_uid } = body
  if ((provider === undefined) !== (extern_uid === undefined)) {
    throw badParameters(provider === undefined ? 'provider is missing' : 'extern_uid is missing')
  }
  return provider === undefined || extern_uid === undefined || extern_uid === ''
    ? undefined
    : { provider, extern_uid }
}

/** The settings among the fields that were sent. */
export function settingsOf(body: UserFields): Partial<UserSettings> {
  const texts = ['linkedin', 'twitter', 'discord', 'github'] as const
  const plain = ['theme_id', 'color_scheme_id', 'view_diffs_file_by_file', 'auditor'] as const
  return {
    ...Object.fromEntries(
      texts.filter((name) => body[name] !== undefined).map((name) => [name, body[name] ?? '']),
    ),
    ...Object.fromEntries(
      plain.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]),
    ),
  }
}

/** The avatar's columns as the request wants them: a new image, none, or nothing said. */
export async function avatarColumns(
  ctx: Ctx,
  avatar: UploadedFile | null | undefined,
): Promise<Pick<UserColumns, 'avatar_file' | 'avatar_name'>> {
  if (avatar === undefined) return {}
  return avatar === null ? { avatar_file: null, avatar_name: null } : await storeAvatar(ctx, avatar)
}
