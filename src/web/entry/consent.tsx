import { scopeWords } from '../../identity/oauth/scope-words.ts'

/** What an application asks for. */
export function ScopeList({ scopes }: { scopes: readonly string[] }) {
  return (
    <ul class="bullets">
      {scopes.map((scope) => (
        <li key={scope}>
          {scopeWords(scope)} <code class="quiet">{scope}</code>
        </li>
      ))}
    </ul>
  )
}

/** The buttons with which people decide. */
export function Decision() {
  return (
    <p class="row">
      <button type="submit" name="decision" value="allow" class="button primary">
        Authorize
      </button>
      <button type="submit" name="decision" value="deny" class="button">
        Deny
      </button>
    </p>
  )
}
