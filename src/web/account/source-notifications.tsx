import { call } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import {
  type listOwnSourceSettings,
  putSourceSetting,
} from '../../notifications/notification-settings/endpoints.ts'
import { getProject } from '../../projects/projects/endpoints.ts'
import { pathOf } from '../address.ts'
import { actForm, returnOf } from '../form.ts'
import { leaveFlash, type PageCtx } from '../page-ctx.ts'
import { Pages } from '../parts/basics.tsx'
import { Field, Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { noneIfRefused } from '../refused.ts'

const ADDRESS = '/-/user_settings/notifications'
export const PER_PAGE = 20

export const levels = [
  { value: 'participating', label: 'What I take part in, and where I am mentioned' },
  { value: 'watch', label: 'Everything' },
  { value: 'mention', label: 'Only where I am mentioned' },
  { value: 'custom', label: 'What I take part in, and the events below' },
  { value: 'disabled', label: 'Nothing' },
]

/** In a project or group its own events are chosen by clients; here they are kept as they are. */
const sourceLevels = [
  { value: 'global', label: 'As everywhere else' },
  ...levels.map((one) =>
    one.value === 'custom'
      ? { value: 'custom', label: 'What I take part in, and events of my choice' }
      : one,
  ),
]

type Sources = DataOf<typeof listOwnSourceSettings>

/** Projects and groups with levels of their own: each can be changed, and given up. */
export function SourceSettings({ sources, page }: { sources: Sources; page: number }) {
  return (
    <section class="stack">
      <h2>Single projects and groups</h2>
      <p>Levels of their own go before the one for everywhere.</p>
      {sources.items.length === 0 && <p class="quiet">None has a level of its own.</p>}
      <ul class="list">
        {sources.items.map((source) => (
          <li key={`${source.source_type} ${source.source_id}`}>
            <span class="main">
              <Icon name={source.source_type === 'group' ? 'organization' : 'repo'} />{' '}
              <A class="title" href={pathOf(source.source_path)}>
                {source.source_path}
              </A>
            </span>
            <LevelForm
              type={source.source_type}
              path={source.source_path}
              level={source.level}
              label={`Mails about ${source.source_path}`}
            />
          </li>
        ))}
      </ul>
      <Pages
        page={page}
        perPage={PER_PAGE}
        total={sources.total}
        more={sources.more}
        address={ADDRESS}
      />
      <Form action={`${ADDRESS}/source`} class="form">
        <h3>Set a level of its own</h3>
        <Field
          name="path"
          label="Project or group"
          hint="Its path, such as tools/hammer"
          input={{ required: true }}
        />
        <Field name="level" label="Level" options={sourceLevels.slice(1)} />
        <button type="submit" class="button">
          Set the level
        </button>
      </Form>
    </section>
  )
}

interface LevelProps {
  readonly type: 'project' | 'group'
  readonly path: string
  readonly level: string
  readonly label: string
}

function LevelForm({ type, path, level, label }: LevelProps) {
  return (
    <Form action={`${ADDRESS}/source`} class="row">
      <input type="hidden" name="type" value={type} />
      <input type="hidden" name="path" value={path} />
      <select name="level" aria-label={label}>
        {sourceLevels.map((one) => (
          <option key={one.value} value={one.value} selected={one.value === level}>
            {one.label}
          </option>
        ))}
      </select>
      <button type="submit" class="button">
        Save
      </button>
    </Form>
  )
}

async function kindOf(ctx: PageCtx, path: string): Promise<'projects' | 'groups'> {
  try {
    await call(getProject, ctx, { path: { id: path } })
    return 'projects'
  } catch (error) {
    noneIfRefused(error)
    return 'groups'
  }
}

/** Sets the level of a project, or else of a group, of this path. */
export const sourceNotificationsForm = actForm({
  address: `${ADDRESS}/source`,
  summary: 'Change what the caller is sent mails about in a project or group',
  async act(sent) {
    const { ctx, fields } = sent
    const path = String(fields.path ?? '').trim()
    const source = fields.type === 'group' ? 'groups' : await kindOf(ctx, path)
    const body = { level: fields.level }
    await call(putSourceSetting, ctx, { path: { source, id: path }, body })
    leaveFlash(ctx, { kind: 'notice', text: `The level of ${path} was saved.` })
    return returnOf(sent)
  },
})
