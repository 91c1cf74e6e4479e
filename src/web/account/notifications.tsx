import { call } from '../../http/call/call.ts'
import { integer } from '../../http/params.ts'
import {
  getGlobalSetting,
  listOwnSourceSettings,
  putGlobalSetting,
} from '../../notifications/notification-settings/endpoints.ts'
import { EVENTS, isChosen } from '../../notifications/notification-settings/levels.ts'
import { form } from '../form.ts'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { confirmedAddresses } from './addresses.ts'
import { AccountFrame } from './frame.tsx'
import { levels, PER_PAGE, SourceSettings } from './source-notifications.tsx'

const ADDRESS = '/-/user_settings/notifications'

export const notificationsPage = page({
  address: ADDRESS,
  summary: 'What I am sent mails about',
  signedIn: true,
  api: () => '/notification_settings',
  query: { page: integer({ min: 1 }).default(1) },
  async read(ctx, { query: { page } }) {
    const [setting, sources, addresses] = await Promise.all([
      call(getGlobalSetting, ctx, { path: {} }),
      call(listOwnSourceSettings, ctx, { path: {}, query: { page, per_page: PER_PAGE } }),
      confirmedAddresses(ctx),
    ])
    return { setting, sources, page, addresses }
  },
  title: () => 'Notifications · Gitstead',
  view: ({
    setting: { level, events = {}, notification_email: email },
    sources,
    page,
    addresses,
  }) => (
    <AccountFrame current="Notifications">
      <RefusalNote />
      <Form action={ADDRESS} class="form">
        <Field name="level" label="Mails about" options={levels} value={level} />
        <Field
          name="notification_email"
          label="Sent to"
          value={email}
          options={
            addresses.some(({ value }) => value === email)
              ? addresses
              : [{ value: email, label: email }, ...addresses]
          }
        />
        <fieldset class="choices columns">
          <legend class="label-text">Events of the level with events</legend>
          {EVENTS.map((event) => (
            <label key={event}>
              <input type="checkbox" name={event} value="true" checked={isChosen(events, event)} />{' '}
              {event.replaceAll('_', ' ')}
            </label>
          ))}
        </fieldset>
        <button type="submit" class="button primary">
          Save the notifications
        </button>
      </Form>
      <SourceSettings sources={sources} page={page} />
    </AccountFrame>
  ),
})

export const notificationsForm = form({
  address: ADDRESS,
  summary: 'Change what the caller is sent mails about',
  endpoint: putGlobalSetting,
  page: notificationsPage,
  input: ({ fields }) => ({
    path: {},
    body: {
      level: fields.level,
      notification_email: fields.notification_email,
      // A box that is not ticked is not sent; only the level with events has a say in them.
      ...(fields.level === 'custom'
        ? Object.fromEntries(EVENTS.map((event) => [event, fields[event] === 'true']))
        : {}),
    },
  }),
  goTo: () => ADDRESS,
  flash: 'The notifications were saved.',
})
