/**
 * Forms that ask for a passkey or security key first (`data-key`): what it answers is sent with the form. Without script the form
 * goes out without it, and the server says so.
 */
export function askForKeys(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return
    const { key, keyField = '', options } = form.dataset
    const field = form.elements.namedItem(keyField)
    if (key === undefined || options === undefined || !(field instanceof HTMLInputElement)) return
    if (field.value !== '') return
    event.preventDefault()
    void ask(key, JSON.parse(options) as Options)
      .then((answer) => {
        field.value = JSON.stringify(answer)
        form.requestSubmit()
      })
      .catch((error: unknown) => say(form, error))
  })
}

function say(form: HTMLFormElement, error: unknown): void {
  const place = form.querySelector<HTMLElement>('[role=alert]')
  if (!place) return
  const isKnown = error instanceof DOMException && error.name === 'InvalidStateError'
  place.textContent = isKnown
    ? 'This key was added before.'
    : 'No key was given. Please try again, or sign in another way.'
  place.hidden = false
}

/** What the server gives: as the API of browsers wants it, with bytes as base64url. */
interface Options {
  readonly challenge: string
  readonly user?: { readonly id: string }
  readonly excludeCredentials?: readonly { readonly id: string }[]
  readonly allowCredentials?: readonly { readonly id: string }[]
}

async function ask(key: string, options: Options): Promise<object> {
  const known = (list: Options['allowCredentials'] = []) =>
    list.map((one) => ({ ...one, id: bytesOf(one.id) }))
  const common = { ...options, challenge: bytesOf(options.challenge) }
  const credential =
    key === 'create'
      ? await navigator.credentials.create({
          publicKey: {
            ...common,
            user: { ...options.user, id: bytesOf(options.user?.id ?? '') },
            excludeCredentials: known(options.excludeCredentials),
          } as unknown as PublicKeyCredentialCreationOptions, // the server gave the other parts
        })
      : await navigator.credentials.get({
          publicKey: {
            ...common,
            allowCredentials: known(options.allowCredentials),
          } as unknown as PublicKeyCredentialRequestOptions, // the server gave the other parts
        })
  if (!(credential instanceof PublicKeyCredential)) throw new Error('no key')
  return answerOf(credential)
}

function answerOf(credential: PublicKeyCredential): object {
  const { response } = credential
  const common = {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
  }
  const clientDataJSON = textOf(response.clientDataJSON)
  if (response instanceof AuthenticatorAttestationResponse) {
    const attestationObject = textOf(response.attestationObject)
    const transports = response.getTransports?.() ?? []
    return { ...common, response: { clientDataJSON, attestationObject, transports } }
  }
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new Error('no answer')
  const { userHandle } = response
  return {
    ...common,
    response: {
      clientDataJSON,
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      ...(userHandle === null ? {} : { userHandle: textOf(userHandle) }),
    },
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (one) => one.charCodeAt(0))
}

function textOf(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (one) => String.fromCharCode(one)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
