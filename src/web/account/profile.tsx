import { call } from '../../http/call/call.ts'
import { flag, text } from '../../http/params.ts'
import { refuseWrong, validate } from '../../http/validate.ts'
import { getCurrentUser, putAvatar } from '../../identity/users/current-endpoints.ts'
import { avatarParam } from '../../identity/users/params.ts'
import { type OwnProfile, updateOwnProfile } from '../../identity/users/profile/update-oneself.ts'
import { actForm, form } from '../form.ts'
import { page } from '../page.ts'
import { leaveFlash } from '../page-ctx.ts'
import { Avatar } from '../parts/basics.tsx'
import { ButtonForm, Field, Form, RefusalNote } from '../parts/form.tsx'
import { confirmedAddresses } from './addresses.ts'
import { AccountFrame } from './frame.tsx'

const ADDRESS = '/-/user_settings/profile'
const AVATAR = '/-/user_settings/profile/avatar'
/** Above the largest picture that may be set, so that the endpoint says what is wrong with a larger one. */
const MAX_FORM = 10 * 1024 * 1024

export const accountProfilePage = page({
  address: ADDRESS,
  summary: 'My profile',
  signedIn: true,
  api: () => '/user',
  async read(ctx) {
    const [user, addresses] = await Promise.all([
      call(getCurrentUser, ctx, { path: {} }),
      confirmedAddresses(ctx),
    ])
    return { user, addresses }
  },
  title: () => 'Profile · Gitstead',
  view: ({ user, addresses }) => (
    <AccountFrame current="Profile">
      <RefusalNote />
      <section class="row" aria-label="Picture">
        <Avatar of={user} size={64} />
        <Form action={AVATAR} enctype="multipart/form-data" class="row">
          <input type="file" name="avatar" accept="image/*" aria-label="Picture" required />
          <button type="submit" class="button">
            Set the picture
          </button>
        </Form>
        {user.avatar_url !== null && (
          <ButtonForm action={AVATAR} fields={{ avatar: '' }} label="Remove it" kind="quiet" />
        )}
      </section>
      <Form action={ADDRESS} class="form">
        <Field name="name" label="Name" value={user.name} input={{ required: true }} />
        <Field name="bio" label="About me" value={user.bio ?? ''} area={{ rows: 3 }} />
        <Field name="pronouns" label="Pronouns" value={user.pronouns ?? ''} />
        <Field name="location" label="Place" value={user.location ?? ''} />
        <Field name="organization" label="Organization" value={user.organization ?? ''} />
        <Field name="job_title" label="Job" value={user.job_title ?? ''} />
        <Field
          name="website_url"
          label="Website"
          value={user.website_url ?? ''}
          input={{ type: 'url', placeholder: 'https://…' }}
        />
        <Field
          name="public_email"
          label="E-mail address that everybody sees"
          value={user.public_email ?? ''}
          options={[{ value: '', label: 'None' }, ...addresses]}
        />
        <Field
          name="private_profile"
          label="Who sees this profile"
          value={String(user.private_profile ?? false)}
          options={[
            { value: 'false', label: 'Everybody' },
            { value: 'true', label: 'Nobody: only my name and picture' },
          ]}
        />
        <button type="submit" class="button primary">
          Save the profile
        </button>
      </Form>
    </AccountFrame>
  ),
})

const fields = {
  name: text({ max: 1000 }),
  bio: text({ max: 5000 }).optional(),
  pronouns: text({ max: 5000 }).optional(),
  location: text({ max: 5000 }).optional(),
  organization: text({ max: 5000 }).optional(),
  job_title: text({ max: 5000 }).optional(),
  website_url: text({ max: 5000 }).optional(),
  public_email: text({ max: 1000 }).optional(),
  private_profile: flag().optional(),
}

export const accountProfileForm = actForm({
  address: ADDRESS,
  summary: 'Change the profile of the caller',
  page: accountProfilePage,
  async act({ ctx, fields: sent }) {
    const { value, wrong } = validate(fields, sent)
    refuseWrong(wrong)
    // What `validate` read has the schemas' types.
    await updateOwnProfile(ctx, value as OwnProfile)
    leaveFlash(ctx, { kind: 'notice', text: 'The profile was saved.' })
    return ADDRESS
  },
})

export const avatarForm = form({
  address: AVATAR,
  summary: 'Set the picture of the caller',
  endpoint: putAvatar,
  page: accountProfilePage,
  files: { avatar: avatarParam.optional() },
  maxBody: MAX_FORM,
  input: ({ fields: { avatar } }) => ({ path: {}, body: { avatar } }),
  goTo: () => ADDRESS,
  flash: ({ avatar_url }) =>
    avatar_url === null ? 'The picture was removed.' : 'The picture was set.',
})
