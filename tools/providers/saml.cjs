// Two SAML 2.0 identity providers on loopback, in express: at /samlp the one that Auth0 wrote and
// runs; at /boxy what Mock SAML runs, which signs both the assertion and the response.
// node saml.cjs HOST KEY.pem CERTIFICATE.pem; says {"url"} on standard output when it listens.
//
// PUT /services tells them of a service provider and who signs in there, as its administrator would:
// {audience, acs, user: {id, email, name, groups}, options}. `options` are samlp's own.

const { readFileSync } = require("node:fs");
const express = require("express");
const samlp = require("samlp");
const boxy = require("@boxyhq/saml20").default;

const [host, keyFile, certificateFile] = process.argv.slice(2);
const key = readFileSync(keyFile, "utf8");
const cert = readFileSync(certificateFile, "utf8");
const services = new Map();
const app = express();
let url;

// What the administrator of this provider lets it tell of people, and under which names.
const CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/";

function profile(user) {
  return {
    getNameIdentifier: () => ({ nameIdentifier: user.id }),
    getClaims: () => ({
      [`${CLAIMS}emailaddress`]: user.email,
      [`${CLAIMS}name`]: user.name,
      "http://schemas.xmlsoap.org/claims/Group": user.groups,
    }),
  };
}

app.put("/services", express.json(), (request, response) => {
  services.set(request.body.audience, request.body);
  response.sendStatus(204);
});

app.get("/samlp/metadata", (request, response) =>
  samlp.metadata({
    issuer: `${url}/samlp`,
    cert,
    redirectEndpointPath: "/samlp/sso",
    postEndpointPath: "/samlp/sso",
  })(request, response),
);

app.get("/samlp/sso", (request, response, next) => {
  samlp.parseRequest(request, (error, asked) => {
    const service = asked && services.get(asked.issuer);
    if (error || !service) return response.sendStatus(400);
    // As a provider should: an answer goes nowhere but to the registered address.
    if (asked.assertionConsumerServiceURL !== service.acs) return response.sendStatus(400);
    return samlp.auth({
      issuer: `${url}/samlp`,
      cert,
      key,
      destination: service.acs,
      recipient: service.acs,
      getPostURL: (_audience, _request, _req, done) => done(null, service.acs),
      getUserFromRequest: () => service.user,
      profileMapper: profile,
      nameIdentifierFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
      ...service.options,
    })(request, response, next);
  });
});

app.get("/boxy/metadata", (request, response) =>
  response.type("application/xml").send(
    boxy.createIdPMetadataXML({
      ssoUrl: `${url}/boxy/sso`,
      entityId: `${url}/boxy`,
      x509cert: cert,
      wantAuthnRequestsSigned: true,
    }),
  ),
);

app.get("/boxy/sso", async (request, response) => {
  const xml = await boxy.decodeBase64(request.query.SAMLRequest, true);
  const asked = await boxy.parseSAMLRequest(xml, false);
  const { user, acs } = services.get(asked.audience);
  const answer = await boxy.createSAMLResponse({
    audience: asked.audience,
    issuer: `${url}/boxy`,
    acsUrl: acs,
    requestId: asked.id,
    claims: { email: user.email, raw: { email: user.email, displayName: user.name } },
    privateKey: key,
    publicKey: cert,
  });
  const form = { SAMLResponse: Buffer.from(answer).toString("base64") };
  const members = Object.entries({ ...form, RelayState: request.query.RelayState });
  response.send(boxy.createPostForm(acs, members.map(([name, value]) => ({ name, value }))));
});

const server = app.listen(0, host, () => {
  url = `http://${host}:${server.address().port}`;
  console.log(JSON.stringify({ url }));
});
// Whoever started it is gone when its standard input ends.
process.stdin.resume().on("end", () => process.exit(0));
