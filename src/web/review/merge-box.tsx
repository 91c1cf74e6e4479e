import type { DataOf } from '../../http/endpoint.ts'
import type { getMergeMessages } from '../../review/merge-requests/merge/endpoints.ts'
import { ButtonForm, Field, Form } from '../parts/form.tsx'
import { type Abilities, type ApprovalData, Approve, type RequestData } from './blockers.tsx'

interface Props {
  readonly request: RequestData
  readonly approvals: ApprovalData | undefined
  readonly may: Abilities
  readonly address: string
  readonly messages: Messages | undefined
}

export type Messages = DataOf<typeof getMergeMessages>

/** Merging now, or when the pipeline has succeeded. */
export function MergeBox({ request, may, address, messages }: Props) {
  if (!may.merge) return null
  if (request.merge_when_pipeline_succeeds) {
    return (
      <div class="row">
        <p>It is merged by itself as soon as nothing stands in its way.</p>
        <ButtonForm action={`${address}/cancel_auto_merge`} label="Do not merge by itself" />
      </div>
    )
  }
  if (!canMerge(request)) return null
  const waits = request.detailed_merge_status === 'ci_still_running'
  return (
    <Form action={`${address}/merge`} class="row">
      {request.sha !== null && <input type="hidden" name="sha" value={request.sha} />}
      {waits && <input type="hidden" name="auto_merge" value="true" />}
      <label>
        <input type="checkbox" name="squash" value="true" checked={request.squash_on_merge} />{' '}
        Squash the commits
      </label>
      <label>
        <input
          type="checkbox"
          name="should_remove_source_branch"
          value="true"
          checked={request.force_remove_source_branch === true}
        />{' '}
        Delete the source branch
      </label>
      <button type="submit" class="button primary">
        {waits ? 'Merge when the pipeline succeeds' : 'Merge'}
      </button>
      {messages && <MessageFields messages={messages} />}
    </Form>
  )
}

/** Whether it can be merged now, or when its pipeline has succeeded. */
export function canMerge({ detailed_merge_status: status }: RequestData): boolean {
  return status === 'mergeable' || status === 'ci_still_running'
}

/** What the commits of the merge are to say. What nobody changes is made anew when it is merged. */
function MessageFields({ messages }: { messages: Messages }) {
  const { merge_commit_message: merge, squash_commit_message: squash } = messages
  if (merge === null && squash === null) return null
  return (
    <details class="messages">
      <summary>Change the commit messages</summary>
      <div class="stack tight">
        {merge !== null && (
          <>
            <input type="hidden" name="preset_merge" value={merge} />
            <Field
              name="merge_commit_message"
              label="Message of the merge commit"
              value={merge}
              area={{ rows: 6 }}
            />
          </>
        )}
        {squash !== null && (
          <>
            <input type="hidden" name="preset_squash" value={squash} />
            <Field
              name="squash_commit_message"
              label="Message of the squashed commit, if its commits are squashed"
              value={squash}
              area={{ rows: 4 }}
            />
          </>
        )}
      </div>
    </details>
  )
}

type Sent = Readonly<Record<string, unknown>>

/** The messages that were changed. */
export function messagesIn(fields: Sent) {
  const changed = (text: unknown, preset: unknown) => (text === preset ? undefined : text)
  return {
    merge_commit_message: changed(fields.merge_commit_message, fields.preset_merge),
    squash_commit_message: changed(fields.squash_commit_message, fields.preset_squash),
  }
}

/** Approving, and taking that back; drafts; closing and reopening. */
export function Actions({ request, approvals, may, address }: Omit<Props, 'messages'>) {
  const open = request.state === 'opened'
  return (
    <div class="row">
      {open && approvals?.user_can_approve && !approvals.user_has_approved && (
        <Approve request={request} address={address} />
      )}
      {open && approvals?.user_has_approved && (
        <ButtonForm action={`${address}/unapprove`} label="Take the approval back" />
      )}
      {may.edit && open && !request.draft && (
        <ButtonForm
          action={`${address}/update`}
          fields={{ title: `Draft: ${request.title}` }}
          label="Mark as draft"
        />
      )}
      {may.edit && open && (
        <ButtonForm action={`${address}/update`} fields={{ state_event: 'close' }} label="Close" />
      )}
      {may.edit && request.state === 'closed' && (
        <ButtonForm
          action={`${address}/update`}
          fields={{ state_event: 'reopen' }}
          label="Reopen"
        />
      )}
    </div>
  )
}
