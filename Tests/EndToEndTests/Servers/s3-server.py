"""An S3 and IAM server (moto) that checks the signature and the permissions of every request.

usage: s3-server.py BUCKET

The server listens on a free port of 127.0.0.1, creates the bucket and a user with all S3 permissions, and prints one line
each for `port`, for `access_key` and `secret_key`, and for the user's second key, `other_access_key` and
`other_secret_key`. It exits when its standard input is closed, or on SIGTERM.
"""

import os
import sys

# The following requests, which prepare the server, need no authorization. All later requests need it.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "5"
os.environ.update(AWS_ACCESS_KEY_ID="setup", AWS_SECRET_ACCESS_KEY="setup", AWS_DEFAULT_REGION="us-east-1")

import boto3
import flask
from moto.iam import access_control
from moto.server import ThreadedMotoServer

# moto computes the signature for the decoded path, and therefore rejects boto3's requests for keys such as `a+b`.
original = access_control.IAMRequestBase.__init__


def with_path_as_sent(self, *, path, **others):
    original(self, path=flask.request.environ["RAW_URI"], **others)


access_control.IAMRequestBase.__init__ = with_path_as_sent

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
url = f"http://127.0.0.1:{port}"

iam = boto3.client("iam", endpoint_url=url)
iam.create_user(UserName="ferry")
key, other = [iam.create_access_key(UserName="ferry")["AccessKey"] for _ in range(2)]
policy = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}'
iam.put_user_policy(UserName="ferry", PolicyName="all", PolicyDocument=policy)
boto3.client("s3", endpoint_url=url).create_bucket(Bucket=sys.argv[1])

print("access_key", key["AccessKeyId"])
print("secret_key", key["SecretAccessKey"])
print("other_access_key", other["AccessKeyId"])
print("other_secret_key", other["SecretAccessKey"])
print("port", port, flush=True)
sys.stdin.read()
