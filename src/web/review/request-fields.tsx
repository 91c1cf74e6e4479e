import { call, may } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { listProjectLabels } from '../../planning/labels/endpoints.ts'
import { listMilestones } from '../../planning/milestones/endpoints.ts'
import { listAllMembers } from '../../projects/members/endpoints.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Field } from '../parts/form.tsx'
import type { ProjectData } from '../project/frame.tsx'

type Member = DataOf<typeof listAllMembers>['items'][number]

/** What people choose from when they describe a merge request. */
export interface Choices {
  readonly members: readonly Member[]
  readonly labels: readonly string[]
  readonly milestones: readonly { readonly id: number; readonly title: string }[]
}

/** Only as many as a person looks through. */
const query = { per_page: 100 }

export async function readChoices(ctx: PageCtx, project: ProjectData): Promise<Choices> {
  const path = { id: project.id }
  const source = { source: 'projects', id: project.id }
  const [mayMembers, mayLabels, mayMilestones] = await Promise.all([
    may(listAllMembers, ctx, { path: source }),
    may(listProjectLabels, ctx, { path }),
    may(listMilestones, ctx, { path: source }),
  ])
  const [members, labels, milestones] = await Promise.all([
    mayMembers ? call(listAllMembers, ctx, { path: source, query }) : undefined,
    mayLabels ? call(listProjectLabels, ctx, { path, query }) : undefined,
    mayMilestones
      ? call(listMilestones, ctx, { path: source, query: { ...query, state: 'active' } })
      : undefined,
  ])
  return {
    members: members?.items ?? [],
    labels: labels?.items.map(({ name }) => name) ?? [],
    milestones: milestones?.items ?? [],
  }
}

interface Props {
  readonly choices: Choices
  readonly now: {
    readonly title: string
    readonly description: string
    readonly labels: readonly string[]
    readonly milestone: number | undefined
    readonly assignees: readonly number[]
    readonly reviewers: readonly number[]
    readonly squash: boolean
    readonly removes: boolean
  }
}

export function RequestFields({ choices, now }: Props) {
  const milestones = choices.milestones.map(({ id, title }) => ({
    value: String(id),
    label: title,
  }))
  return (
    <>
      <Field
        name="title"
        label="Title"
        value={now.title}
        input={{ required: true }}
        hint="Begin it with “Draft:” while it is not ready to be merged."
      />
      <Field
        name="description"
        label="Description"
        value={now.description}
        area={{ rows: 10, markdown: true }}
      />
      <People label="Assignees" name="assignee_ids" choices={choices} chosen={now.assignees} />
      <People label="Reviewers" name="reviewer_ids" choices={choices} chosen={now.reviewers} />
      <Field
        name="labels"
        label="Labels"
        value={now.labels.join(', ')}
        hint="With commas between them."
        input={{ list: 'labels' }}
      />
      <datalist id="labels">
        {choices.labels.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field
        name="milestone_id"
        label="Milestone"
        value={now.milestone === undefined ? '' : String(now.milestone)}
        options={[{ value: '', label: 'None' }, ...milestones]}
      />
      <fieldset class="choices">
        <legend class="label-text">When it is merged</legend>
        <Flag name="squash" label="Squash its commits into one" checked={now.squash} />
        <Flag name="remove_source_branch" label="Delete the source branch" checked={now.removes} />
      </fieldset>
    </>
  )
}

function Flag({ name, label, checked }: { name: string; label: string; checked: boolean }) {
  return (
    <label>
      <input type="checkbox" name={name} value="true" checked={checked} /> {label}
    </label>
  )
}

interface PeopleProps {
  readonly label: string
  readonly name: string
  readonly choices: Choices
  readonly chosen: readonly number[]
}

function People({ label, name, choices: { members }, chosen }: PeopleProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={`${name}[]`} multiple size={Math.min(6, Math.max(2, members.length))}>
        {members.map((member) => (
          <option key={member.id} value={member.id} selected={chosen.includes(member.id)}>
            {member.name} (@{member.username})
          </option>
        ))}
      </select>
    </div>
  )
}

type Sent = Readonly<Record<string, unknown>>

/** What these fields say, as the API takes it: an empty choice clears. */
export function requestBody(fields: Sent) {
  const { title, description, labels, milestone_id, squash, remove_source_branch } = fields
  return {
    ...{ title, description, labels },
    milestone_id: milestone_id === '' ? null : milestone_id,
    assignee_ids: fields.assignee_ids ?? [],
    reviewer_ids: fields.reviewer_ids ?? [],
    squash: squash ?? false,
    remove_source_branch: remove_source_branch ?? false,
  }
}
