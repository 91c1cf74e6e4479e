import type { DataOf } from '../../http/endpoint.ts'
import type { applySuggestion } from '../../review/suggestions/endpoints.ts'
import { ButtonForm, Form } from '../parts/form.tsx'

type Suggestion = DataOf<typeof applySuggestion>

/** The id of the form that applies all suggestions that are marked. */
const BATCH = 'suggestion-batch'

interface Props {
  readonly suggestion: Suggestion
  readonly address: string
  readonly mayApply: boolean
  readonly part?: string
}

/** A suggestion as the change that it is, and the buttons to take it over, by itself or with others. */
export function SuggestionView({ suggestion, address, mayApply }: Props) {
  const { id, applied, appliable, from_content, to_content } = suggestion
  return (
    <section class="suggestion" aria-label="Suggested change">
      <SuggestedLines from={from_content} to={to_content} />
      <div class="row suggestion-foot">
        {applied && <span class="label">applied</span>}
        {!applied && !appliable && <span class="quiet">It does not fit any more.</span>}
        {mayApply && appliable && (
          <>
            <ButtonForm
              action={`${address}/suggestions/apply`}
              fields={{ ids: id }}
              label="Apply the suggestion"
            />
            <label>
              <input type="checkbox" name="ids[]" value={id} form={BATCH} /> with others
            </label>
          </>
        )}
      </div>
    </section>
  )
}

/** Lines as they are, and as they should be. */
export function SuggestedLines({ from, to }: { from: string; to: string }) {
  return (
    <div class="diff-scroll">
      <table class="diff">
        <tbody>
          {linesOf(from).map((text) => (
            <SuggestedLine key={text} kind="removed" text={text} />
          ))}
          {linesOf(to).map((text) => (
            <SuggestedLine key={text} kind="added" text={text} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SuggestedLine({ kind, text }: { kind: 'added' | 'removed'; text: string }) {
  return (
    <tr>
      <td class={`diff-code ${kind}`} data-sign={kind === 'added' ? '+' : '−'}>
        <code>{text}</code>
      </td>
    </tr>
  )
}

function linesOf(text: string): string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

/** Applies all suggestions that are marked as one commit. */
export function SuggestionBatch({ address }: { address: string }) {
  return (
    <Form id={BATCH} action={`${address}/suggestions/apply`} class="row batch">
      <button type="submit" class="button">
        Apply the marked suggestions
      </button>
    </Form>
  )
}
