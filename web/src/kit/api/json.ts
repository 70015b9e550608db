/** Some operations answer with a picture if it is asked for. This application asks for JSON. */
export function asJson<Body>(answer: Body | undefined): Exclude<Body, string> | undefined {
  return answer === undefined || typeof answer === 'string'
    ? undefined
    : (answer as Exclude<Body, string>);
}
