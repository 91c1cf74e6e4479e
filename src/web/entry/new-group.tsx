import { call } from '../../http/call/call.ts'
import { text } from '../../http/params.ts'
import { getGroup, postGroup } from '../../projects/groups/endpoints.ts'
import { pathOf } from '../address.ts'
import { form } from '../form.ts'
import { page } from '../page.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { visibilities } from './new-project.tsx'

export const newGroupPage = page({
  address: '/groups/new',
  summary: 'New group',
  signedIn: true,
  query: { parent_id: text({ max: 20 }).optional() },
  async read(ctx, { query: { parent_id } }) {
    const preset = ctx.settings.get('default_group_visibility')
    if (!parent_id) return { preset, parent: undefined }
    const query = { with_projects: false }
    const parent = await call(getGroup, ctx, { path: { id: parent_id }, query })
    return { preset, parent: { id: parent.id, path: parent.full_path } }
  },
  title: () => 'New group · Gitstead',
  view: ({ preset, parent }) => (
    <div class="narrow stack">
      <h1>New group</h1>
      <RefusalNote />
      <Form action="/groups/new" class="form">
        {parent && (
          <>
            <p>
              In <A href={pathOf(parent.path)}>{parent.path}</A>
            </p>
            <input type="hidden" name="parent_id" value={parent.id} />
          </>
        )}
        <Field name="name" label="Name" input={{ required: true, autofocus: true }} />
        <Field
          name="path"
          label="Path"
          hint="How it stands in addresses"
          input={{ required: true }}
        />
        <Field name="description" label="Description" area={{ rows: 2 }} />
        <Field name="visibility" label="Visibility" options={visibilities} value={preset} />
        <button type="submit" class="button primary">
          Create the group
        </button>
      </Form>
    </div>
  ),
})

export const newGroupForm = form({
  address: '/groups/new',
  summary: 'Create a group',
  endpoint: postGroup,
  page: newGroupPage,
  input: ({ fields: { name, path, description, visibility, parent_id } }) => ({
    path: {},
    body: { name, path, description, visibility, parent_id },
  }),
  goTo: ({ data }) => pathOf(data.full_path),
})
