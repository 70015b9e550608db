// Serve two SAML 2.0 identity providers on HOST with express: at /samlp the one that Auth0 wrote and
// runs, and at /boxy the one that Mock SAML runs, which signs both the assertion and the response.
// node saml.cjs HOST KEY.pem CERTIFICATE.pem; prints {"url"} as JSON when it accepts connections.
//
// PUT /services registers a service provider, and the user who signs in to it, at both providers:
// {audience, acs, user: {id, email, name, groups}, options}. `options` are options of samlp.

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

// The beginning of the names of most claims about a user.
const CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/";

function buildProfile(user) {
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
  samlp.parseRequest(request, (error, samlRequest) => {
    const service = samlRequest && services.get(samlRequest.issuer);
    if (error || !service) return response.sendStatus(400);
    // A provider must send a response only to the registered address.
    if (samlRequest.assertionConsumerServiceURL !== service.acs) return response.sendStatus(400);
    return samlp.auth({
      issuer: `${url}/samlp`,
      cert,
      key,
      destination: service.acs,
      recipient: service.acs,
      getPostURL: (_audience, _request, _req, done) => done(null, service.acs),
      getUserFromRequest: () => service.user,
      profileMapper: buildProfile,
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
  const samlRequest = await boxy.parseSAMLRequest(xml, false);
  const { user, acs } = services.get(samlRequest.audience);
  const samlResponse = await boxy.createSAMLResponse({
    audience: samlRequest.audience,
    issuer: `${url}/boxy`,
    acsUrl: acs,
    requestId: samlRequest.id,
    claims: { email: user.email, raw: { email: user.email, displayName: user.name } },
    privateKey: key,
    publicKey: cert,
  });
  const form = { SAMLResponse: Buffer.from(samlResponse).toString("base64") };
  const fields = Object.entries({ ...form, RelayState: request.query.RelayState });
  response.send(boxy.createPostForm(acs, fields.map(([name, value]) => ({ name, value }))));
});

const server = app.listen(0, host, () => {
  url = `http://${host}:${server.address().port}`;
  console.log(JSON.stringify({ url }));
});
// The standard input ends when the process that started this program closes it or exits.
process.stdin.resume().on("end", () => process.exit(0));
